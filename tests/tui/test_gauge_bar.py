"""The gauge bar. Its pictures are in `snapshots/test_gauge_bar/`."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import Tooltip

from fakes.live_session import live_session
from fakes.screen import make_app, until
from fakes.transcripts import shown as rows
from pinfold.agent.options import Options, PreparingOptions
from pinfold.agent.updates import Prepared, Streamed
from pinfold.compaction.guards import MAX_FAILURES
from pinfold.ports.provider import ModelInfo, TextDelta
from pinfold.rollout.events import PinsChanged, RequestFinished, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.values import PlanBase, Usage
from pinfold.tui import themes
from pinfold.tui.gauge import LETTERS, GaugeBar, variable
from pinfold.tui.transcript.view import Transcript
from pinfold.window.counts import ORDER
from pinfold.window.reading import GaugeReading, SentRequest

Snap = Callable[..., bool]

FULL = GaugeReading(
    used=34_100,
    source="measured",
    limit=272_000,
    segments=(
        *(("instructions", 1_900), ("AGENTS.md", 2_200), ("tools", 3_000), ("pinned", 4_200)),
        *(("checkpoint", 1_500), ("user", 1_800), ("assistant", 3_300), ("reasoning", 2_000)),
        *(("tool calls", 2_600), ("tool results", 11_000), ("folded", 600)),
    ),
    reserve=27_000,
    threshold=208_250,
    cached=0.82,
    cost=0.42,
    requests=(
        SentRequest(30_200, 0, 0.1213),
        SentRequest(31_900, 26_158),
        SentRequest(34_100, 27_962, 0.0321),
    ),
)
TINY = ModelInfo("m", "p", 2_000, "table", tools=False)
SMALL = ModelInfo("SmolLM2-135M-Instruct", "embedded", 40_000, "assumed")
PREPARES = Options(preparing=PreparingOptions(wanted=True))
TIGHT = msgspec.structs.replace(FULL, reserve=4_000, threshold=30_600)


def line(app: Any) -> str:
    return str(app.screen.query_one(GaugeBar).render())


async def shown(reading: GaugeReading, width: int, **changes: Any) -> str:
    session = live_session(gauge=reading, **changes)
    async with make_app(session).run_test(size=(width, 24)) as pilot:
        await until(pilot, lambda: pilot.app.screen.query_one(GaugeBar).reading)
        return line(pilot.app)


async def test_an_empty_session_shows_instructions_and_tools() -> None:
    session = live_session(gauge=None)
    async with make_app(session).run_test(size=(80, 24)) as pilot:
        gauge = pilot.app.screen.query_one(GaugeBar)
        await until(pilot, lambda: gauge.reading and gauge.reading.used > 1_000)
        assert {"instructions", "tools"} <= dict(gauge.reading.segments).keys()  # type: ignore[union-attr]


def test_every_segment_has_a_letter_of_its_own_and_a_colour() -> None:
    assert LETTERS.keys() == {*ORDER, "live"}
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert {variable(name) for name in LETTERS} <= set(themes.OURS)


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (120, "34.1k of 272k · 13% · measured · cached 82% · $0.42"),
        (80, "34.1k of 272k · 13% · measured · cached 82% · $0.42"),
        (56, "34.1k of 272k · 13% · measured"),
        (40, "34.1k of 272k · 13%"),
        (24, "34.1k of 272k · 13%"),
    ],
)
async def test_figures_come_before_the_bar(width: int, said: str) -> None:
    drawn = await shown(FULL, width)
    assert drawn.endswith(said)
    assert len(drawn) <= width - 4
    assert ("━" in drawn) == (width > 24)


@pytest.mark.parametrize(
    ("source", "sign"),
    [("measured", ""), ("calibrated", "≈"), ("estimated", "≈"), ("unknown", "?")],
)
async def test_the_source_is_a_word_where_there_is_room_else_a_sign(source: Any, sign: str) -> None:
    reading = msgspec.structs.replace(FULL, source=source)
    assert (await shown(reading, 80)).count(f"· {source}") == 1
    assert f"{sign}34.1k of" in await shown(reading, 40)


async def test_what_happens_at_the_threshold_is_said_and_marked() -> None:
    drawn = await shown(FULL, 120)
    assert "auto" not in drawn
    # The mark stands in the free part, before the reserve.
    assert "─┃" in drawn.partition("╌")[0]
    assert "· measured · ask ·" in await shown(FULL, 120, auto="ask")
    masked = await shown(msgspec.structs.replace(FULL, masking=171_500), 120)
    assert 0 < masked.index("┊") < masked.index("┃")
    assert "┊" not in drawn
    off = await shown(msgspec.structs.replace(FULL, threshold=None), 120, auto="off")
    assert "· measured · off ·" in off
    assert "┃" not in off


async def test_it_warns_at_the_threshold_and_past_what_can_be_used() -> None:
    assert "! 34.1k of 40k" in await shown(TIGHT, 80, model=SMALL)
    assert "! 34.1k" not in await shown(
        msgspec.structs.replace(TIGHT, threshold=None), 80, model=SMALL, auto="off"
    )
    assert "!! 34.1k of 40k" in await shown(
        msgspec.structs.replace(TIGHT, reserve=8_000), 80, model=SMALL
    )
    assert "!! ≈34.1k of 40k · 85%" in await shown(
        msgspec.structs.replace(TIGHT, reserve=8_000, source="estimated"), 40, model=SMALL
    )


async def test_an_assumed_window_is_said_to_be_so() -> None:
    assert "window assumed" in await shown(TIGHT, 120, model=SMALL)


async def test_a_cost_of_nothing_is_not_shown() -> None:
    assert "$" not in await shown(msgspec.structs.replace(FULL, cost=0.0), 120)
    assert "<$0.01" in await shown(msgspec.structs.replace(FULL, cost=0.001), 120)


async def test_a_click_opens_the_context_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(live_session(gauge=FULL))
    opened: list[str] = []
    monkeypatch.setattr(app, "open", lambda panel, argument="": opened.append(panel))
    async with app.run_test() as pilot:
        await until(pilot, app._begun.is_set)
        await pilot.click(GaugeBar)
        await until(pilot, lambda: opened)
    assert opened == ["context"]


async def test_the_tooltip_says_all() -> None:
    session = live_session(gauge=FULL, auto="ask")
    async with make_app(session).run_test() as pilot:
        gauge = pilot.app.screen.query_one(GaugeBar)
        await until(pilot, lambda: gauge.reading)
        session.enter("streaming")
        session.tell(Streamed(TextDelta("word " * 200)))
        text = str(gauge.tooltip)
    for name, count in FULL.segments:
        assert f"{name} " in text
        assert f" {count:,} " in text
    assert "in flight" in text
    assert "threshold, ask    208,250  76.6%" in text
    assert "for the reply      27,000   9.9%" in text
    assert "estimated: counted here" in text
    assert "newest first:\n   34,100    82% cached   $0.0321\n   31,900    82% cached\n" in text
    assert "$0.42 so far." in text
    assert max(map(len, text.split("\n\n")[1].splitlines())) <= 36


# What the session does


def result(n: int, words: int) -> list[Item]:
    return [
        Item(n=n, kind="tool_call", name="shell", call_id=f"c{n}", response=n, content="{}"),
        Item(n=n + 1, kind="tool_result", call_id=f"c{n}", response=n, content="word " * words),
    ]


async def test_it_follows_pins_marks_and_the_threshold() -> None:
    items = [Item(n=1, kind="user", content="hi"), *result(2, 400)]
    session = live_session(items=items, gauge=None)
    async with make_app(session).run_test() as pilot:
        gauge = pilot.app.screen.query_one(GaugeBar)
        await until(pilot, lambda: gauge.reading)
        session.append(PinsChanged(add=(2,)))
        assert dict(gauge.reading.segments)["pinned"] > 300  # type: ignore[union-attr]
        await session.window.undo()
        whole = gauge.reading.used  # type: ignore[union-attr]
        await session.window.act("mask", (3,))
        assert gauge.reading.used < whole - 300  # type: ignore[union-attr]
        before = gauge.reading.threshold  # type: ignore[union-attr]
        await pilot.press(*"/threshold 0.95", "enter")
        await until(pilot, lambda: gauge.reading.threshold > before)  # type: ignore[operator, union-attr]
        await pilot.press(*"/threshold off", "enter")
        await until(pilot, lambda: gauge.auto == "off" and gauge.reading.threshold is None)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("compacted", "told"), [(False, "compacted before the next request"), (True, "grown by 10%")]
)
async def test_what_follows_of_passing_the_threshold_is_told(*, compacted: bool, told: str) -> None:
    session = live_session(gauge=None, model=TINY)
    session.append(Item(n=1, kind="user", content="word " * 1_200))
    async with make_app(session).run_test(size=(120, 40)) as pilot:
        transcript = pilot.app.screen.query_one(Transcript)
        await until(pilot, lambda: session.gauge.used > 1_210)
        if compacted:
            same = ((1, "full"),)
            session.append(
                WindowReplaced(generation=1, base=PlanBase(0, 1), reason="threshold", window=same)
            )
        for item in result(2, 60):
            session.append(item)
        await until(pilot, lambda: told in " ".join(rows(transcript)))


async def test_a_window_too_large_for_the_model_is_told_as_it_opens() -> None:
    session = live_session(gauge=None, model=ModelInfo("m", "p", 500, "table"))
    for item in result(1, 640):
        session.append(item)
    async with make_app(session).run_test(size=(120, 40)) as pilot:
        transcript = pilot.app.screen.query_one(Transcript)
        await until(pilot, lambda: "does not fit the model" in " ".join(rows(transcript)))


async def test_passing_the_threshold_is_told_once() -> None:
    session = live_session(gauge=None, model=TINY)
    session.append(Item(n=1, kind="user", content="hi"))
    async with make_app(session).run_test(size=(120, 40)) as pilot:

        async def told() -> int:
            await pilot.pause()
            return "\n".join(rows(transcript)).count("has passed its threshold")

        transcript = pilot.app.screen.query_one(Transcript)
        await until(pilot, lambda: session.approver)
        for item in (*result(2, 640), *result(4, 640)):
            session.append(item)
        assert await told() == 1
        # The report has it a little under; what comes then takes it over again.
        usage = Usage(input=1_260, cached=0, output=0, reasoning=0)
        session.append(
            RequestFinished(
                purpose="turn",
                response=4,
                estimate=0,
                provider="p",
                model="m",
                through_seq=6,
                usage=usage,
                status="done",
            )
        )
        session.append(Item(n=6, kind="assistant", content="word " * 100))
        assert await told() == 1
        await session.window.act("mask", (3, 5))
        for item in result(7, 1_300):
            session.append(item)
        assert await told() == 2


async def test_a_threshold_that_the_user_moves_is_not_told() -> None:
    session = live_session(gauge=None, model=TINY)
    session.append(Item(n=1, kind="user", content="word " * 200))
    async with make_app(session).run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press(*"/threshold 0.1", "enter")
        transcript = pilot.app.screen.query_one(Transcript)
        await until(pilot, lambda: "Threshold: 10%" in "\n".join(rows(transcript)))
        session.append(Item(n=2, kind="assistant", content="word"))
        await pilot.pause()
        assert "has passed" not in "\n".join(rows(transcript))


async def test_it_says_whether_a_summary_is_prepared_and_one_key_switches_that() -> None:
    session = live_session(gauge=FULL, options=PREPARES)
    session.preparing.state = "ready"
    async with make_app(session).run_test(size=(120, 24)) as pilot:
        gauge = pilot.app.screen.query_one(GaugeBar)
        await until(pilot, lambda: "summary ready" in line(pilot.app))
        session.preparing.state = "preparing"
        session.tell(Prepared("preparing"))
        await until(pilot, lambda: "summary being written" in line(pilot.app))
        assert "For the next compaction: summary being written." in str(gauge.tooltip)
        await pilot.press("f4")
        await until(pilot, lambda: not session.preparing.wanted)
        session.tell(Prepared(""))
        await until(pilot, lambda: "summary" not in line(pilot.app))
        await pilot.press("f4")
        await until(pilot, lambda: session.preparing.wanted)


# Pictures


def snap(
    compare: Snap, reading: GaugeReading, width: int, *, theme: str = "pinfold", **changes: Any
) -> bool:
    session = live_session(gauge=reading, **changes)

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)
        pilot.app.screen.query_one(GaugeBar).live = 2_000
        await pilot.pause()

    return compare(make_app(session, theme=theme), terminal_size=(width, 12), run_before=before)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_gauge(snap_compare: Snap, width: int) -> None:
    """You should see every segment in its colour, the reserve at the right end, and the mark."""
    assert snap(snap_compare, FULL, width)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_gauge_without_colour(
    snap_compare: Snap, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """You should see a letter for every segment, and a sign for what is free and kept."""
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap(snap_compare, FULL, width)


@pytest.mark.parametrize("width", [80, 120])
def test_gauge_prepared(snap_compare: Snap, width: int) -> None:
    """You should read that a summary is ready, before all other figures but the source."""
    session = live_session(gauge=FULL, options=PREPARES)
    session.preparing.state = "ready"

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: "summary ready" in line(pilot.app))

    assert snap_compare(make_app(session), terminal_size=(width, 12), run_before=before)


@pytest.mark.parametrize("theme", ["pinfold-light", "high-contrast", "ember", "tide", "nord"])
def test_gauge_theme(snap_compare: Snap, theme: str) -> None:
    """You should see neighbours told apart, the mark plain to see."""
    assert snap(snap_compare, TIGHT, 120, theme=theme, model=SMALL)


@pytest.mark.parametrize("theme", ["pinfold", "pinfold-light"])
def test_gauge_tooltip(snap_compare: Snap, theme: str) -> None:
    """You should see every segment with its tokens and share, and what the figures mean."""
    session = live_session(gauge=FULL)

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver)
        await pilot.hover(GaugeBar)
        await until(pilot, lambda: pilot.app.screen.query_one(Tooltip).display)

    app = make_app(session, theme=theme)
    assert snap_compare(app, terminal_size=(80, 32), run_before=before)


async def test_the_gauge_says_that_automatic_compaction_is_paused() -> None:
    session = live_session(gauge=TIGHT, model=SMALL)
    async with make_app(session).run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: session.approver)
        for _ in range(MAX_FAILURES):
            session._parts.auto_compaction._failed(ValueError("The disk is full."))
        await until(pilot, lambda: "compaction paused" in line(pilot.app))
        session.append(PinsChanged(add=("src/**",)))
        await until(pilot, lambda: "compaction paused" not in line(pilot.app))

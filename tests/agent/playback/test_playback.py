"""A recording plays: the same items, window and gauge as when it was made, at a pace."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes.agent import Stage, stage
from fakes.foreign import codex_session
from fakes.foreign_claude import claude_session
from pinfold.adopt import claude, codex
from pinfold.agent.options import Options
from pinfold.agent.projections import Projections
from pinfold.agent.updates import Appended, PhaseChanged, Streamed
from pinfold.compaction.view import PlanOptions
from pinfold.ports.provider import TextDelta
from pinfold.rollout.events import (
    ArtifactObserved,
    Data,
    Event,
    ItemAdded,
    ItemsMarked,
    PinsChanged,
    PromptQueued,
    PromptUnqueued,
    RequestFinished,
    SessionStarted,
    TurnFinished,
    WindowReplaced,
)
from pinfold.rollout.items import Item
from pinfold.rollout.values import PlanBase
from pinfold.tokens.counter import Counter
from pinfold.window.reading import GaugeReading
from pinfold.window.refused import Refused
from pinfold.window.window import Window

CODEX = codex.read_lines(codex_session().encoded(), Path("a.jsonl")).events
CLAUDE = claude.read_lines(claude_session().encoded(), Path("b.jsonl")).events


def folded(events: tuple[Event, ...]) -> Window:
    window = Window()
    for event in events:
        window.step(event)
    return window


async def through(on: Stage) -> float:
    """Let the playing come to its end; the seconds it took."""
    idle = asyncio.create_task(on.session.idle())
    while not idle.done():
        sleeping = asyncio.create_task(on.clock.sleeping())
        await asyncio.wait({idle, sleeping}, return_when=asyncio.FIRST_COMPLETED)
        if sleeping.done():
            await on.clock.advance(sleeping.result())
        sleeping.cancel()
    return on.clock.monotonic()


@pytest.mark.parametrize("events", [CODEX, CLAUDE], ids=["codex", "claude"])
@pytest.mark.parametrize("speed", [0, 4])
async def test_the_window_comes_out_as_it_was(
    tmp_path: Path, events: tuple[Event, ...], speed: float
) -> None:
    on = await stage(tmp_path, [])
    on.session.play(events, speed)
    await through(on)
    window = folded(events)
    overview = on.session.window.overview()
    assert [(row.n, row.form) for row in overview.rows] == list(window.forms.items())
    assert overview.generation == window.generation
    archive = window.archive
    assert list(on.session.items) == [archive[n] for n in archive]
    assert (
        on.ended
        == [event.data.state for event in events if isinstance(event.data, TurnFinished)].pop()
    )
    assert on.session.phase == "idle"
    assert on.provider.requests == []
    await on.session.close()


@pytest.mark.parametrize("events", [CODEX, CLAUDE], ids=["codex", "claude"])
async def test_the_gauge_is_what_it_was_at_each_report(
    tmp_path: Path, events: tuple[Event, ...]
) -> None:
    on = await stage(tmp_path, [])
    read: list[GaugeReading] = []
    then: list[GaugeReading] = []
    recorded = Projections(Counter("none"), "chat")
    for event in events:
        recorded.step(event)
        if isinstance(event.data, RequestFinished):
            recorded.gauge.catch_up()
            then.append(recorded.gauge.reading(on.session.model, on.session.threshold, {}))

    def hear(update: object) -> None:
        if isinstance(update, Appended) and isinstance(update.event.data, RequestFinished):
            # Where masking begins is the session's, not the recording's.
            read.append(msgspec.structs.replace(on.session.reading(), masking=None))

    on.session.subscribe(hear)
    on.session.play(events, 4)
    await through(on)
    assert read == then
    assert {reading.source for reading in read} <= {"measured", "calibrated"}
    await on.session.close()


async def test_replies_stream_and_long_waits_are_short(tmp_path: Path) -> None:
    for name in ("slow", "fast"):
        (tmp_path / name).mkdir()
    slow = await stage(tmp_path / "slow", [])
    slow.session.play(CODEX, 1)
    seconds = await through(slow)
    texts = [u.delta.text for u in slow.heard if isinstance(u, Streamed) and is_text(u.delta)]
    assert "".join(texts) == "I look.Done."
    assert len(texts) == 3
    assert PhaseChanged("tools") in slow.heard
    fast = await stage(tmp_path / "fast", [])
    fast.session.play(CODEX, 2)
    assert await through(fast) == pytest.approx(seconds / 2)
    await slow.session.close()
    await fast.session.close()


def is_text(delta: object) -> bool:
    return isinstance(delta, TextDelta)


async def test_esc_stops_it_and_gives_back_what_was_typed(tmp_path: Path) -> None:
    on = await stage(tmp_path, [])
    on.session.play(CODEX, 1)
    on.session.send("meanwhile")
    await on.clock.sleeping()
    on.session.interrupt()
    await on.session.idle()
    assert on.session.phase == "idle"
    assert len(on.session.items) < len(folded(CODEX).archive)
    assert [u.text for u in on.heard if hasattr(u, "text")][-1:] == ["meanwhile"]
    await on.session.close()


async def test_what_was_undone_is_undone_again(tmp_path: Path) -> None:
    events = list(CLAUDE)
    seq = events[-1].seq
    result = next(
        e.data.item.n
        for e in reversed(events)
        if isinstance(e.data, ItemAdded) and e.data.item.kind == "tool_result"
    )
    marks = [
        ItemsMarked(items=((result, "masked"),)),
        ItemsMarked(items=((result, "placeholder"),)),
        ItemsMarked(items=((result, "masked"),), undoes=seq + 2),
    ]
    events += [Event(seq + k, events[-1].ts, mark) for k, mark in enumerate(marks, 1)]
    on = await stage(tmp_path, [])
    on.session.play(events, 0)
    await on.session.idle()
    assert on.session.window.form(result) == "masked"
    assert await on.session.window.undo() == _newest(folded(tuple(events)))
    await on.session.close()


def _newest(window: Window) -> str:
    assert window.undo.newest is not None
    return window.undo.newest.what


@pytest.mark.parametrize("speed", [0, 4])
async def test_what_names_an_event_names_it_where_it_is_played(
    tmp_path: Path, speed: float
) -> None:
    mark = ItemsMarked(items=((3, "masked"),))
    left_out = (PromptQueued(id=1, text="Later."), PromptUnqueued(id=1, reason="removed"))
    at = len(CODEX)
    undone = ItemsMarked(items=((3, "full"),), undoes=at + 3)
    more = (*left_out, mark, *left_out, undone)
    last = CODEX[-1]
    events = (*CODEX, *(Event(at + i, last.ts, data) for i, data in enumerate(more, 1)))
    on = await stage(tmp_path, [])
    on.session.play(events, speed)
    await through(on)
    assert folded(events).undo.newest is None
    with pytest.raises(Refused, match="nothing to undo"):
        await on.session.window.undo()
    await on.session.close()


# With compactions of our own


OWN = Options(
    approvals="full",
    threshold=0.5,
    strategy="checkpoint",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=100, target_pct=0.2),
)


def long_session(compacted_at: int | None = None) -> list[Event]:
    """Turns of a request, a call, its result and an answer; a recorded compaction after one."""
    data: list[Data] = [SessionStarted(schema=1, id="s", cwd="/w", version="0")]
    n = 0
    for turn in range(1, 31):
        written: dict[str, Any] = {"turn": turn, "response": 2 * turn, "name": "read_file"}
        call = f"call-{turn}"
        path = f'{{"path": "src/part_{turn}.py"}}'
        body = f"def part_{turn}():\n    return {turn}\n" * 12
        items = (
            Item(n=n + 1, kind="user", content=f"Look at part {turn}.", turn=turn),
            Item(n=n + 2, kind="tool_call", content=path, call_id=call, **written),
            Item(n=n + 3, kind="tool_result", content=body, call_id=call, **written),
            Item(
                n=n + 4,
                kind="assistant",
                content=f"Part {turn} is read.",
                turn=turn,
                response=2 * turn + 1,
            ),
        )
        data += [ItemAdded(item=item) for item in items]
        n += 4
        if turn == compacted_at:
            n += 1
            data.append(
                WindowReplaced(
                    generation=1,
                    base=PlanBase(0, len(data)),
                    reason="threshold",
                    window=((n, "full"),),
                    inserted=(Item(n=n, kind="summary", content="Parts are read."),),
                )
            )
        if turn == 20:
            data.append(PinsChanged(add=(n - 1, "src/**")))
            data.append(
                ArtifactObserved(uri="src/part_20.py", kind="file", op="read", hash="0", item=n - 1)
            )
    return [Event(seq, CODEX[0].ts, event) for seq, event in enumerate(data, 1)]


async def test_our_compactions_take_the_place_of_the_recorded_ones(tmp_path: Path) -> None:
    on = await stage(tmp_path, [], options=OWN)
    on.session.play(long_session(compacted_at=3), 0, own=True)
    await on.session.idle()
    told = "\n".join(on.told())
    assert "Parts are read." not in "\n".join(item.content for item in on.session.items)
    rounds = on.session.rounds
    assert rounds
    assert {compaction.strategy for compaction in rounds} == {"checkpoint"}
    usable = on.session.reading().usable
    assert all(compaction.before >= usable / 2 > compaction.after for compaction in rounds)
    assert "Compactions:" in told
    assert all(f"#{compaction.after_item}" in told for compaction in rounds)
    assert on.provider.requests == []
    await on.session.close()


async def test_what_names_an_item_names_it_by_its_new_number(tmp_path: Path) -> None:
    on = await stage(tmp_path, [], options=OWN)
    on.session.play(long_session(compacted_at=3), 0, own=True)
    await on.session.idle()
    (pin, _), _ = on.session.window.pins
    pinned = on.session.window.item(int(pin))
    assert pinned is not None
    assert "part_20" in pinned.content
    observed = on.events_of(ArtifactObserved)
    assert [event.item for event in observed] == [pin]
    await on.session.close()


async def test_the_pace_changes_nothing(tmp_path: Path) -> None:
    found = []
    for speed in (0, 50):
        (tmp_path / str(speed)).mkdir()
        on = await stage(tmp_path / str(speed), [], options=OWN)
        on.session.play(long_session(), speed, own=True)
        await through(on)
        found.append(on.session.rounds)
        await on.session.close()
    assert found[0] == found[1]
    assert found[0]


async def test_recorded_compactions_are_told_of_as_they_were(tmp_path: Path) -> None:
    on = await stage(tmp_path, [])
    on.session.play(long_session(compacted_at=3), 0)
    await on.session.idle()
    (only,) = on.session.rounds
    assert (only.after_item, only.kept, only.archived, only.inserted) == (12, 0, 12, 1)
    assert only.before > only.after
    await on.session.close()


@pytest.mark.parametrize("events", [CODEX, CLAUDE], ids=["codex", "claude"])
async def test_no_item_of_a_foreign_recording_is_lost(
    tmp_path: Path, events: tuple[Event, ...]
) -> None:
    options = replace(OWN, threshold=0.01)
    on = await stage(tmp_path, [], options=options)
    on.session.play(events, 0, own=True)
    await on.session.idle()
    added = [event.data.item for event in events if isinstance(event.data, ItemAdded)]
    texts = [item.content for item in on.session.items if item.kind != "checkpoint"]
    assert texts == [item.content for item in added]
    assert not [text for text in on.told() if "stopped" in text]
    await on.session.close()


async def test_what_was_gone_back_behind_goes_and_comes_back(tmp_path: Path) -> None:
    events = long_session()
    at = events[-1].seq

    def rewound(seq: int, generation: int, last: int) -> Event:
        window = tuple((n, "full") for n in range(1, last + 1))
        base = PlanBase(generation - 1, seq - 1)
        data = WindowReplaced(generation=generation, base=base, reason="rewind", window=window)
        return Event(seq, events[-1].ts, data)

    for last, stands in ((112, False), (120, True)):
        (tmp_path / str(last)).mkdir()
        on = await stage(tmp_path / str(last), [], options=OWN)
        more = [rewound(at + 1, 1, 112), rewound(at + 2, 2, last)]
        on.session.play([*events, *more], 0, own=True)
        await on.session.idle()
        texts = [row.words for row in on.session.window.overview().rows]
        assert ("Part 30 is read." in texts) is stands
        assert "Part 28 is read." in texts
        assert all(compaction.reason == "threshold" for compaction in on.session.rounds)
        await on.session.close()

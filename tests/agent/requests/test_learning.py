"""A request that the server finds too long teaches the window, and goes out again shorter."""

from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.provider import ScriptedProvider, Step, calls, says
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.options import Options
from pinfold.agent.requests import learned_windows
from pinfold.agent.requests.learned_windows import LearnedWindow, LearnedWindows, place_of
from pinfold.agent.requests.learning import taught
from pinfold.agent.updates import Told
from pinfold.compaction.view import PlanOptions
from pinfold.ports.errors import ContextOverflow
from pinfold.ports.provider import Delta, ModelInfo, Request
from pinfold.rollout.events import ModelChanged, RequestFinished, TurnFinished, WindowReplaced
from pinfold.rollout.journal import Journal
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, count_item
from pinfold.window.refused import Refused

WIDE = ModelInfo("scripted-1", "scripted", 400_000, "config")
PLACE = place_of("scripted", "", "scripted-1")
WORK = Options(approvals="full", compact=PlanOptions(max_tail_messages=4))
WIDE_ENOUGH = 3.0
"""Times what stands before the window, that a window has in which one can work."""

Refusal = Callable[[int, int], ContextOverflow]


def telling(tokens: int, limit: int) -> ContextOverflow:
    return ContextOverflow(f"maximum context length is {limit} tokens", limit=limit)


def telling_all(tokens: int, limit: int) -> ContextOverflow:
    return ContextOverflow("too long", limit=limit, tokens=tokens)


def silent(tokens: int, limit: int) -> ContextOverflow:
    return ContextOverflow("input is too long")


class Limited(ScriptedProvider):
    """Refuses what takes more than `limit` tokens, of which it counts `rate` where we count one.

    The limit is so many `times` what instructions and tools take."""

    def __init__(self, script: Iterable[list[Step]], times: float, refusal: Refusal) -> None:
        super().__init__(script)
        self.limit = 0
        self.refusal = refusal
        self.rate = 1.1
        self.sizes: list[int] = []
        self.refused: list[int] = []
        self._times = times

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        counter = Counter("none")
        fixed = self.rate * sum(context_parts(counter, request.context, "chat").values())
        said = self.rate * sum(count_item(counter, item, "chat") for item in request.items)
        self.limit = self.limit or int(self._times * fixed)
        tokens = int(fixed + said)
        if tokens > self.limit:
            self.refused.append(tokens)
            raise self.refusal(tokens, self.limit)
        self.sizes.append(tokens)
        async for delta in super().stream(request):
            yield delta


def work(steps: int) -> list[list[Step]]:
    """One turn that reads a lot, and its reply."""
    read = '{"command": "seq 1 150"}'
    return [*(calls((f"c{n}", "shell", read)) for n in range(steps)), says("All of it is read.")]


async def limited(
    root: Path,
    times: float,
    refusal: Refusal,
    script: Iterable[list[Step]],
    options: Options = WORK,
    journal: Callable[[], Journal] | None = None,
    model: ModelInfo = WIDE,
) -> tuple[Stage, Limited]:
    provider = Limited(script, times, refusal)
    at = await stage(root, (), options=options, model=model, journal=journal, provider=provider)
    return at, provider


async def prompt(at: Stage, text: str) -> TurnFinished:
    await at.say(text)
    return at.events_of(TurnFinished)[-1]


def windows(at: Stage) -> list[tuple[int, str]]:
    changes = at.events_of(ModelChanged)
    return [(change.context_window, change.window_source) for change in changes]


def warned(at: Stage) -> list[str]:
    return [
        update.text for update in at.heard if isinstance(update, Told) and update.level != "info"
    ]


@pytest.mark.parametrize(
    ("refusal", "rate"),
    [
        pytest.param(telling, 1.1, id="counts as we do"),
        pytest.param(telling_all, 1.6, id="counts far more"),
    ],
)
async def test_the_limit_that_the_server_tells_is_the_window(
    tmp_path: Path, refusal: Refusal, rate: float
) -> None:
    at, provider = await limited(tmp_path, WIDE_ENOUGH, refusal, work(20))
    provider.rate = rate
    with pytest.raises(Refused, match="400,000 tokens was not learned"):
        await at.session.forget_window()
    ended = await prompt(at, "read it all")
    assert ended.state == "done", ended.reason
    assert at.session.items[-1].content == "All of it is read."
    assert len(provider.sizes) == 21
    assert windows(at) == [(400_000, "config"), (provider.limit, "learned")]
    assert at.session.model.window_source == "learned"
    assert at.session.reading().limit == provider.limit
    replaced = [event.reason for event in at.events() if isinstance(event, WindowReplaced)]
    assert replaced[0] == "overflow"
    assert len(provider.refused) == 1, "planned with from then on"
    (said,) = warned(at)
    assert f"takes {provider.limit:,} tokens, not the 400,000 tokens that context_window" in said
    # The journal has it, and so have later sessions.
    statuses = [event.status for event in at.events() if isinstance(event, RequestFinished)]
    assert statuses.count("ContextOverflow") == 1
    (*_, change) = (event for event in at.events() if isinstance(event, ModelChanged))
    assert "was refused" in change.reason
    assert LearnedWindows(tmp_path / "home").find(PLACE) == LearnedWindow(PLACE, provider.limit)
    # The user forgets it.
    assert (await at.session.forget_window()).endswith("400,000 from now on (config).")
    assert at.session.model.context_window == 400_000
    assert windows(at)[-1] == (400_000, "config")
    assert LearnedWindows(tmp_path / "home").find(PLACE) is None


async def test_without_a_limit_three_quarters_of_what_was_sent_are(tmp_path: Path) -> None:
    read = '{"command": "seq 1 900"}'
    script = [calls(*((f"c{n}", "shell", read) for n in range(4))), says("All of it is read.")]
    at, provider = await limited(tmp_path, WIDE_ENOUGH, silent, script)
    ended = await prompt(at, "read it all")
    assert ended.state == "done", ended.reason
    learned = at.session.model.context_window
    assert learned == pytest.approx(0.75 * provider.refused[0], rel=0.1)
    assert windows(at)[1:] == [(learned, "learned")]
    assert "without saying how many it takes" in warned(at)[0]


async def test_but_no_less_than_it_took_before(tmp_path: Path) -> None:
    at, provider = await limited(tmp_path, WIDE_ENOUGH, silent, work(20))
    ended = await prompt(at, "read it all")
    assert ended.state == "done", ended.reason
    assert at.session.model.context_window == pytest.approx(max(provider.sizes), abs=60)


async def test_a_small_window_that_is_not_told_is_found(tmp_path: Path) -> None:
    at, provider = await limited(tmp_path, 1.75, silent, work(12))
    ended = await prompt(at, "read it all")
    assert ended.state == "done", ended.reason
    assert len(provider.refused) <= 2


async def test_one_request_teaches_five_times_at_most(tmp_path: Path) -> None:
    at, provider = await limited(
        tmp_path,
        0.5,
        lambda *_: ContextOverflow("too long", limit=100_000 - 1_000 * len(provider.refused)),
        (),
        options=replace(WORK, auto="ask"),
    )

    async def applied(_: CompactionTrigger) -> bool:
        return True

    at.session.review_by(applied)
    assert (await prompt(at, "hello")).state == "failed"
    assert len(provider.refused) == 6
    assert at.session.model.context_window == 95_000


@pytest.mark.parametrize(
    "error",
    [
        ContextOverflow("Request too large: limit 30000 tokens per min", of_window=False),
        ContextOverflow("The request is too large", status=413, of_window=False),
    ],
)
async def test_other_limits_teach_nothing(tmp_path: Path, error: ContextOverflow) -> None:
    at, _ = await limited(tmp_path, 1.3, lambda *_: error, ())
    await prompt(at, "look: " + "word " * 1_500)
    assert windows(at) == [(400_000, "config")]
    assert LearnedWindows(tmp_path / "home").find(PLACE) is None


async def test_a_larger_request_that_succeeds_forgets_it(tmp_path: Path) -> None:
    at, provider = await limited(tmp_path, WIDE_ENOUGH, telling, [*work(20), says("So.")])
    await prompt(at, "read it all")
    learned = at.session.model.context_window
    assert learned == provider.limit
    provider.limit = 100_000
    at.session.set_threshold("off")
    assert (await prompt(at, "now this: " + "word " * 6_000)).state == "done"
    assert windows(at)[-1] == (400_000, "config")
    assert at.session.model.window_source == "config"
    assert LearnedWindows(tmp_path / "home").find(PLACE) is None
    assert any(
        f"{learned:,} tokens is forgotten: 400,000 from now on" in text for text in at.told()
    )


async def test_a_model_that_can_never_hold_it_is_named_in_one_sentence(tmp_path: Path) -> None:
    at, provider = await limited(tmp_path, 1.3, telling_all, (), options=WORK)
    ended = await prompt(at, "look: " + "word " * 1_500)
    assert ended.state == "failed"
    assert ended.reason.startswith(
        f"scripted-1 can't take this request: its context window is {provider.limit:,} tokens, but "
        "instructions and tools take "
    )
    assert f"{provider.limit // 4:,} are reserved for the reply;" in ended.reason
    assert len(provider.refused) == 1
    assert len(warned(at)) == 1, "that the window is another one"
    # Again: it goes out all the same, for the server may take more by now.
    ended = await prompt(at, "and now?")
    assert "can't take this request" in ended.reason
    assert len(provider.refused) == 2
    assert len(warned(at)) == 1
    provider.limit, provider.script = 100_000, [says("Now I can.")]
    assert (await prompt(at, "and now?")).state == "done"
    assert at.session.model.context_window == 400_000


async def test_a_window_that_was_not_learned_is_said_to_be_too_small_before(
    tmp_path: Path,
) -> None:
    small = ModelInfo("scripted-1", "scripted", 3_000, "config")
    at, provider = await limited(tmp_path, WIDE_ENOUGH, telling, [says("Yes.")], model=small)
    assert (await prompt(at, "look: " + "word " * 500)).state == "done"
    (said,) = warned(at)
    assert said.startswith("Not compacted: scripted-1 can't take this request: its context window ")
    assert not provider.refused


async def test_where_no_output_can_be_read_it_ends_too(tmp_path: Path) -> None:
    """Instructions and request fit, the outputs that the model asks for don't."""
    at, provider = await limited(tmp_path, 1.45, telling_all, work(20))
    ended = await prompt(at, "read it all")
    assert ended.state == "failed"
    assert "tokens; give its server a larger window" in ended.reason
    assert len(provider.sizes) < 5, "nothing is asked for again and again"
    assert not at.events_of(WindowReplaced)


async def test_off_learns_and_compacts_nothing(tmp_path: Path) -> None:
    off = replace(WORK, auto="off")
    at, provider = await limited(tmp_path, WIDE_ENOUGH, telling, work(20), options=off)
    ended = await prompt(at, "read it all")
    assert ended.state == "failed"
    assert "/compact makes room" in ended.reason
    assert at.session.model.context_window == provider.limit
    assert not at.events_of(WindowReplaced)


async def test_a_window_that_was_right_is_only_compacted(tmp_path: Path) -> None:
    """The limit is what was known: the server counts in another way than the gauge did."""
    model = ModelInfo("scripted-1", "scripted", 9_800, "server")
    at, provider = await limited(tmp_path, WIDE_ENOUGH, telling, work(20), model=model)
    provider.limit, provider.rate = 9_800, 1.8
    ended = await prompt(at, "read it all")
    assert ended.state == "done", ended.reason
    assert windows(at) == [(9_800, "server")]
    assert LearnedWindows(tmp_path / "home").find(PLACE) is None


async def test_what_the_file_cannot_take_is_learned_all_the_same(tmp_path: Path) -> None:
    at, provider = await limited(tmp_path, WIDE_ENOUGH, telling, work(20))
    (tmp_path / "home" / "learned_windows.json").mkdir()
    assert (await prompt(at, "read it all")).state == "done"
    assert at.session.model.context_window == provider.limit
    assert any("Later sessions will not know" in text for text in warned(at))


@pytest.mark.parametrize(
    ("window", "sent", "limit", "expected"),
    [
        pytest.param(400_000, 9_000, 4_096, 4_096, id="the server tells"),
        pytest.param(4_096, 9_000, 4_096, None, id="that is known"),
        pytest.param(4_096, 3_000, 8_192, None, id="less is known"),
        pytest.param(400_000, 9_000, None, 6_750, id="it does not tell"),
        pytest.param(6_750, 7_000, None, None, id="too much was sent"),
        pytest.param(6_750, 6_750, None, 5_062, id="again"),
        pytest.param(5_062, 4_000, None, 3_500, id="no smaller than it must be"),
        pytest.param(5_062, 3_400, None, 2_550, id="smaller than it may be"),
    ],
)
def test_what_a_refusal_teaches(
    window: int, sent: int, limit: int | None, expected: int | None
) -> None:
    assert taught(window, sent, limit, least=3_500) == expected


def test_a_place_holds_no_secret() -> None:
    place = place_of("mine", "https://me:secret@host:8000/v1/?key=secret", "m")
    assert place.base_url == "https://host:8000/v1"


@pytest.mark.parametrize(
    ("before", "now", "kept"),
    [
        pytest.param(None, None, True, id="it reports none"),
        pytest.param(8_192, None, True, id="it was not asked"),
        pytest.param(8_192, 8_192, True, id="as before"),
        pytest.param(8_192, 4_096, True, id="what was learned"),
        pytest.param(8_192, 16_384, False, id="another one"),
        pytest.param(None, 16_384, False, id="for the first time"),
    ],
)
def test_a_server_that_reports_another_window_is_believed(
    tmp_path: Path, before: int | None, now: int | None, *, kept: bool
) -> None:
    learned = LearnedWindow(PLACE, 4_096, before)
    windows = LearnedWindows(tmp_path)
    windows.keep(learned)
    assert windows.check(PLACE, now) == (learned if kept else None)
    assert windows.find(PLACE) == (learned if kept else None)


def test_a_damaged_file_is_learned_anew(tmp_path: Path) -> None:
    kept = LearnedWindows(tmp_path)
    kept.path.write_text('[{"place": 7')
    assert kept.find(PLACE) is None
    kept.keep(LearnedWindow(PLACE, 4_096))
    assert kept.find(PLACE) == LearnedWindow(PLACE, 4_096)


def test_the_file_keeps_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_windows, "MOST", 3)
    kept = LearnedWindows(tmp_path)
    for n in range(5):
        kept.keep(LearnedWindow(place_of("p", "http://x", f"m{n}"), 4_096))
    assert {place.model for place in kept.places()} == {"m2", "m3", "m4"}

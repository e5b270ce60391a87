"""A recording plays: the same items, window and gauge as when it was made, at a pace."""

import asyncio
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.foreign import codex_session
from fakes.foreign_claude import claude_session
from pinfold.adopt import claude, codex
from pinfold.agent.projections import Projections
from pinfold.agent.updates import Appended, PhaseChanged, Streamed
from pinfold.ports import TextDelta
from pinfold.rollout.events import (
    Event,
    ItemAdded,
    ItemsMarked,
    PromptQueued,
    PromptUnqueued,
    RequestFinished,
    TurnFinished,
)
from pinfold.tokens.counter import Counter
from pinfold.window.reading import Reading
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
        on.session.last_ending
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
    read: list[Reading] = []
    then: list[Reading] = []
    recorded = Projections(None, Counter("none"), "chat")
    for event in events:
        recorded.step(event)
        if isinstance(event.data, RequestFinished):
            recorded.gauge.catch_up()
            then.append(recorded.gauge.reading(on.session.model, on.session.threshold, {}))

    def hear(update: object) -> None:
        if isinstance(update, Appended) and isinstance(update.event.data, RequestFinished):
            read.append(on.session.reading())

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

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.provider import FakeClock
from pinfold.ports import (
    CallDelta,
    Delta,
    PartDone,
    Request,
    RequestRejected,
    ResponseDone,
    TextDelta,
    ToolContext,
    ToolError,
)
from pinfold.providers.replay import Replay
from pinfold.rollout.events import (
    Context,
    ContextSet,
    Data,
    Event,
    ItemAdded,
    ModelChanged,
    RequestFinished,
    ToolSchema,
    Usage,
    encode,
)
from pinfold.rollout.items import Item

TEXT = "A few  words,\nand aVeryLongWordWithoutAnySpaceInIt.\n"


def finished(response: int, status: str = "ok", seconds: float = 8.0) -> RequestFinished:
    return RequestFinished(
        purpose="turn",
        provider="openai",
        model="gpt-5",
        response=response,
        through_seq=1,
        estimate=10,
        status=status,
        usage=Usage(input=response),
        seconds=seconds,
    )


RECORDED: list[Data] = [
    ContextSet(hash="x", context=Context(tools=(ToolSchema("look", "Looks.", {}),))),
    ModelChanged(provider="openai", model="gpt-5", context_window=9_000, window_source="table"),
    ItemAdded(item=Item(n=1, kind="user", content="Hello")),
    ItemAdded(item=Item(n=2, kind="assistant", content="lost", response=1, state="interrupted")),
    finished(1, "NetworkError"),
    ItemAdded(item=Item(n=3, kind="assistant", content=TEXT, response=2)),
    ItemAdded(item=Item(n=4, kind="tool_call", content="{}", name="look", call_id="a", response=2)),
    finished(2),
    ItemAdded(
        item=Item(
            n=5, kind="tool_result", content="seen", call_id="a", response=2, detail={"ok": False}
        )
    ),
    ItemAdded(item=Item(n=6, kind="assistant", content="Done", response=3)),
    finished(3, seconds=1.0),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    lines = [encode(Event(seq, now, data)) for seq, data in enumerate(RECORDED, 1)]
    file = tmp_path / "rollout.jsonl"
    file.write_bytes(b"\n".join(lines) + b'\n{"seq": 12, "ts')
    return file


def asks(replay: Replay) -> Request:
    assert replay.model
    return Request(replay.model, replay.context, ())


async def played(replay: Replay) -> list[Delta]:
    return [delta async for delta in replay.stream(asks(replay))]


async def test_each_request_gets_the_next_whole_response(path: Path) -> None:
    replay = Replay(path, FakeClock(), speed=0)
    assert replay.prompts == ["Hello"]
    first = await played(replay)
    pieces = [delta.text for delta in first if isinstance(delta, TextDelta)]
    assert "".join(pieces) == TEXT
    assert len(pieces) > 5
    assert [delta for delta in first if isinstance(delta, PartDone | ResponseDone)] == [
        PartDone("assistant", TEXT),
        PartDone("tool_call", "{}", "a", "look"),
        ResponseDone(Usage(input=2), "tool_calls"),
    ]
    assert CallDelta(0, "look", "{}") in first
    assert (await played(replay))[-1] == ResponseDone(Usage(input=3), "stop")
    with pytest.raises(RequestRejected, match="ends here"):
        await played(replay)


async def test_it_keeps_the_recorded_pace_times_the_speed(path: Path) -> None:
    clock = FakeClock()
    replay = Replay(path, clock, speed=2)
    task = asyncio.create_task(played(replay))
    while not task.done():
        sleeping = asyncio.create_task(clock.sleeping())
        await asyncio.wait({task, sleeping}, return_when=asyncio.FIRST_COMPLETED)
        if sleeping.done():
            await clock.advance(sleeping.result())
        sleeping.cancel()
    assert clock.monotonic() == pytest.approx(4.0)


async def test_its_tools_give_what_they_gave(path: Path, tmp_path: Path) -> None:
    replay = Replay(path, FakeClock(), speed=0)
    (tool,) = replay.tools()
    here = ToolContext(tmp_path, tmp_path, "a", lambda _: None)
    assert tool.review("{}", here).title == "look"
    outcome = await tool.run("{}", here)
    assert (outcome.output, outcome.ok) == ("seen", False)
    with pytest.raises(ToolError):
        await tool.run("{}", ToolContext(tmp_path, tmp_path, "other", lambda _: None))


def test_a_file_that_is_no_rollout_says_where(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("hello\n")
    with pytest.raises(ValueError, match="line 1"):
        Replay(file, FakeClock())

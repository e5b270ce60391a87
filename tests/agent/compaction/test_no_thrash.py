"""A long session whose tool outputs overshoot the window: it is compacted, and never in vain."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count, pairwise
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest

from fakes.provider import FakeClock, Step, calls, says
from fakes.summaries import answer, entry
from pinfold.agent.builder import build
from pinfold.agent.options import Options, PreparingOptions
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.compaction.guards import GROWTH
from pinfold.headless import no_terminal
from pinfold.ports.errors import ContextOverflow, RequestRejected
from pinfold.ports.provider import Compacted, Delta, ModelInfo, PartDone, Request, ResponseDone
from pinfold.ports.tool import Review, Tool, ToolContext, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.context import ToolSchema
from pinfold.rollout.events import CompactionFinished, Data, RequestFinished, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import Usage
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, count_item

T = TypeVar("T", bound=Data)

MODEL = ModelInfo("scripted-1", "scripted", 16_384, "config", 2_000)
SAID = re.compile(r"^#(\d+) user: (.+)$", re.MULTILINE)


class Dump(Tool):
    """A tool that prints as many lines as it is asked for, with no cap of its own."""

    schema = ToolSchema("dump", "Prints.", {"type": "object", "properties": {}})
    kind: ToolKind = "read"
    read_only = True
    pages = True

    def review(self, arguments: str, context: ToolContext) -> Review:
        return Review("read", "dump")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        asked = json.loads(arguments)
        some = (f"{n} build/part_{asked['turn']}.o is linked\n" for n in range(asked["lines"]))
        return ToolOutcome("".join(some))


class Limited:
    """A model that counts in its own way, refuses what is too large, and keeps on working."""

    name = "scripted"

    def __init__(self, script: Iterator[list[Step]]) -> None:
        self._script = script
        self._counter = Counter("none")
        self._known: dict[tuple[int, int], int] = {}
        self.refused = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        tokens = self._size(request)
        if tokens > MODEL.context_window:
            self.refused += 1
            raise ContextOverflow("This model's maximum context length is exceeded.")
        steps = summary(request) if request.schema else next(self._script)
        for step in steps:
            if isinstance(step, ResponseDone):
                yield ResponseDone(Usage(input=tokens, output=20), step.stop)
            elif isinstance(step, PartDone):
                yield step

    def _size(self, request: Request) -> int:
        context = sum(context_parts(self._counter, request.context, "chat").values())
        return 50 + (context + sum(map(self._item, request.items))) * 11 // 10

    def _item(self, item: Item) -> int:
        key = (item.n, len(item.content))
        if item.n == 0 or key not in self._known:
            self._known[key] = count_item(self._counter, item, "chat")
        return self._known[key]

    async def count(self, request: Request) -> int | None:
        return None

    async def compact(self, request: Request) -> Compacted:
        raise RequestRejected("There is no compaction endpoint.")

    async def warm(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to close."""


def work(rng: Random) -> Iterator[list[Step]]:
    """Turns of up to three calls; most outputs are small, some larger than the whole window."""
    turn = 0
    while True:
        turn += 1
        for at in range(rng.randint(0, 3)):
            lines = rng.choice([rng.randint(1, 100), rng.randint(50, 500), rng.randint(400, 2_400)])
            asked = json.dumps({"turn": turn, "lines": lines})
            yield calls((f"c{turn}_{at}", "dump", asked))
        yield says(f"Part {turn} is done. " + "So it goes. " * rng.randint(1, 200))


def summary(request: Request) -> list[Step]:
    """What a model that works would answer: it quotes what the user said last."""
    *_, (n, quote) = SAID.findall(request.items[0].content) or [("0", "")]
    return says(answer(decisions=[entry((int(n), quote[:80]), text=quote[:80])] if quote else []))


def pinned(rng: Random) -> Iterator[list[Step]]:
    """A large output at first, which the test pins; then small steps alone."""
    yield calls(("c0", "dump", json.dumps({"turn": 0, "lines": 800})))
    yield says("That is all of it.")
    for turn in count(1):
        for at in range(3):
            asked = json.dumps({"turn": turn, "lines": rng.randint(8, 16)})
            yield calls((f"c{turn}_{at}", "dump", asked))
        yield says("So it goes.")


@asynccontextmanager
async def opened(root: Path, provider: Limited, options: Options) -> AsyncIterator[Session]:
    clock = FakeClock()

    async def connect(_: str) -> Connection:
        return Connection(provider, MODEL, "chat", "")

    session = await build(
        SessionStore(root / "home").create(root, "test", clock.now),
        root,
        await connect(""),
        (Dump(),),
        no_terminal,
        clock,
        options,
        counter=Counter("none"),
        user_folder=root / "config",
        connect=connect,
        learned_windows=LearnedWindows(root / "home"),
    )
    yield session
    await session.close()


async def prompt(session: Session, text: str) -> None:
    assert (await session.send(text)).state == "done"
    await session.idle()


def events(session: Session, kind: type[T]) -> list[T]:
    with Journal.open(session.folder, FakeClock().now, read_only=True) as journal:
        return [event.data for event in journal.read() if isinstance(event.data, kind)]


OPTIONS = {
    "layered": Options(approvals="full"),
    "layered, prepared": Options(approvals="full", preparing=PreparingOptions(wanted=True)),
    "checkpoint": Options(approvals="full", strategy="checkpoint"),
}
LENGTHS = [pytest.param(50, id="50"), pytest.param(200, id="200", marks=pytest.mark.slow)]


@pytest.mark.slow
@pytest.mark.parametrize("turns", LENGTHS)
@pytest.mark.parametrize("name", OPTIONS)
async def test_outputs_that_overshoot_the_window_make_no_thrash(
    tmp_path: Path, name: str, turns: int
) -> None:
    rng = Random(1)
    provider = Limited(work(rng))
    async with opened(tmp_path, provider, OPTIONS[name]) as session:
        for turn in range(turns):
            await prompt(session, f"Now make part {turn}. " + "Mind it. " * rng.randint(0, 30))
        usable = session.reading().usable
        windows = [event.tokens for event in events(session, WindowReplaced)]
        statuses = {event.status for event in events(session, RequestFinished)}
        vain = [
            event
            for event in events(session, CompactionFinished)
            if event.status == "failed" and event.compaction.phase != "background"
        ]

    assert (provider.refused, statuses) == (0, {"ok"})
    sizes = [window for window in windows if window is not None]
    grown = [then.before - now.after for now, then in pairwise(sizes)]
    assert min(grown) >= GROWTH * usable
    assert turns // 10 < len(sizes) <= turns, "at most one a turn"
    assert len(vain) <= turns // 20


async def test_a_window_full_of_pins_is_compacted_once_that_is_worth_it(tmp_path: Path) -> None:
    provider = Limited(pinned(Random(1)))
    async with opened(tmp_path, provider, OPTIONS["checkpoint"]) as session:
        await prompt(session, "Show me all of it.")
        (large,) = [item.n for item in session.items if item.kind == "tool_result"]
        await session.window.act("pin", [large])
        for turn in range(30):
            await prompt(session, f"Look at part {turn}.")
        ended = events(session, CompactionFinished)
    assert provider.refused == 0
    assert sum(event.status == "applied" for event in ended) >= 2

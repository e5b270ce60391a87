"""A long session: 5,000 items, 1M tokens; to open, to scroll, to type in, to search."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from statistics import median, quantiles

from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import TextArea

from benchmarks.bench_transcript import PARAGRAPH, SECTION, SIZE, reply
from benchmarks.figures import Figure
from benchmarks.panels import panels
from benchmarks.stalls import STALL, painted, stalls
from pinfold.ports.provider import TextDelta
from pinfold.rollout.items import Item
from pinfold.tui.transcript.view import Transcript

ITEMS = 5_000
KEYS = 200
"""Letters typed while a reply streams in, one with each of its pieces."""
OUTPUT = "\n".join(f"src/reader_{n}.py:{n}:    return self._bytes[:limit]" for n in range(30))
WORDS = "reader opens"


class Screen(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()
        yield TextArea()


def session(items: int) -> Iterator[Item]:
    """Turns of five items, some 200 tokens each."""
    for n in range(1, items + 1):
        match n % 5:
            case 1:
                yield Item(n=n, kind="user", content=f"Message {n}. {PARAGRAPH}")
            case 2:
                yield Item(n=n, kind="reasoning", content=PARAGRAPH * 3)
            case 3:
                arguments = f'{{"command": "grep -rn bytes src # {n}"}}'
                yield Item(n=n, kind="tool_call", name="shell", call_id=f"c{n}", content=arguments)
            case 4:
                yield Item(n=n, kind="tool_result", call_id=f"c{n - 1}", content=OUTPUT)
            case _:
                yield Item(n=n, kind="assistant", content=SECTION.format(n=n))


@asynccontextmanager
async def shown(items: int) -> AsyncIterator[tuple[Pilot[None], Transcript]]:
    """A screen that holds a session of that length."""
    app = Screen()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        transcript = app.query_one(Transcript)
        await transcript.warm()
        transcript.load(session(items))
        await pilot.pause()
        gc.freeze()  # as the shell does
        yield pilot, transcript


async def opening() -> float:
    app, items = Screen(), list(session(ITEMS))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        transcript = app.query_one(Transcript)
        await transcript.warm()
        gc.freeze()

        async def load() -> None:
            transcript.load(items)
            await painted(app)

        return await stalls(load)


async def scrolling(items: int) -> list[float]:
    """CPU milliseconds of each page up, from the end to the first item."""
    took = []
    async with shown(items) as (pilot, transcript):
        while transcript.scroll_offset.y > 0:
            before = time.process_time()
            transcript.scroll_page_up()
            await pilot.pause()
            took.append((time.process_time() - before) * 1e3)
    return took


async def echo(items: int) -> tuple[list[float], float]:
    """Milliseconds from a key to its paint while a reply streams in; the longest stall."""
    took: list[float] = []
    async with shown(items) as (pilot, transcript):
        area = pilot.app.query_one(TextArea)
        area.focus()
        await pilot.pause()

        async def typed() -> None:
            for token in reply(KEYS):
                transcript.stream(TextDelta(token * 4))
                await asyncio.sleep(0)
                before = time.perf_counter()
                pilot.app.post_message(events.Key("x", "x"))
                while len(area.text) <= len(took):
                    await asyncio.sleep(0)
                await painted(pilot.app)
                took.append((time.perf_counter() - before) * 1e3)
                await asyncio.sleep(0.02)

        return took, await stalls(typed)


async def finding(items: int) -> tuple[float, list[float], float]:
    """Milliseconds of the first key of a search and of each later one; the longest stall."""
    took: list[float] = []
    async with shown(items) as (pilot, transcript):

        async def search() -> None:
            for end in range(1, len(WORDS) + 1):
                before = time.perf_counter()
                await transcript.find(WORDS[:end])
                await painted(pilot.app)
                took.append((time.perf_counter() - before) * 1e3)

        longest = await stalls(search)
    return took[0], took[1:], longest


async def opening_all(items: int) -> float:
    """CPU milliseconds to open every entry."""
    async with shown(items) as (pilot, transcript):
        before = time.process_time()
        transcript.action_open_all()
        await pilot.pause()
        return (time.process_time() - before) * 1e3


def run() -> Iterable[Figure]:
    stall = asyncio.run(opening())
    yield Figure("longest stall while it opens", stall, "ms CPU", target=STALL)
    pages, few = asyncio.run(scrolling(ITEMS)), asyncio.run(scrolling(200))
    yield Figure("a page up, p50", median(pages), "ms CPU", median(few), "among 200 items", 1.2)
    yield Figure("a page up, the slowest", max(pages), "ms CPU", target=STALL)
    keys, stall = asyncio.run(echo(ITEMS))
    short, _ = asyncio.run(echo(200))
    against = "among 200 items"
    yield Figure("key echo while streaming, p50", median(keys), "ms", median(short), against, 1.2)
    yield Figure("key echo while streaming, p95", quantiles(keys, n=20)[-1], "ms", target=15)
    yield Figure("longest stall while streaming and typing", stall, "ms CPU", target=STALL)
    first, later, stall = asyncio.run(finding(ITEMS))
    yield Figure("the first letter of a search, to its paint", first, "ms", target=300)
    yield Figure("a further letter, the slowest", max(later), "ms", target=100)
    yield Figure("longest stall while searching", stall, "ms CPU", target=STALL)
    yield Figure("open every entry", asyncio.run(opening_all(ITEMS)), "ms CPU", target=100)
    for name, stall in asyncio.run(panels()).items():
        yield Figure(f"longest stall while {name} opens", stall, "ms CPU", target=STALL)

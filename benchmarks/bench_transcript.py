"""The transcript: a streamed reply, and a long session."""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Callable, Iterable
from statistics import median

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import Markdown, Static

from benchmarks.figures import Figure
from pinfold.ports.provider import TextDelta
from pinfold.rollout.items import Item
from pinfold.tui.transcript.view import Transcript

TOKENS = 8_000
RATE = 200
"""Tokens a second."""
QUARTER = TOKENS // 4
"""Of the baseline: it grows with the text, so that four times its cost is the least it can be."""
SIZE = (120, 40)
ITEMS = 5_000
WIDGETS = 1_000
"""Static widgets that stand in for 5,000; their figures are multiplied by five."""

PARAGRAPH = (
    "The reader opens the file twice, and the **second** handle starts at its end; `read()` then"
    " returns an empty string, which the parser takes for an empty configuration. "
)
SECTION = f"""## What happens in step {{n}}

{PARAGRAPH * 2}

- `path` is resolved first, so that links do not matter
- the bytes are read *once* and kept
- line ends stay what they were

```python
def read(self, limit: int = 4_096) -> bytes:
    \"\"\"The bytes of the file, at most `limit`.\"\"\"
    if self._bytes is None:
        self._bytes = self.path.read_bytes()[:limit]
    return self._bytes
```

| option | default | meaning |
|---|---|---|
| `limit` | 4096 | how much is read |
| `strict` | no | unknown keys are errors |

"""


def reply(tokens: int) -> list[str]:
    """Markdown in pieces of a token's length."""
    text = "".join(SECTION.format(n=n) for n in range(1 + tokens * 4 // len(SECTION)))
    return [text[i * 4 : i * 4 + 4] for i in range(tokens)]


class Ours(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


class Widgets(App[None]):
    def compose(self) -> ComposeResult:
        yield VerticalScroll()


class Stream(App[None]):
    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown()


async def streamed(feed: Callable[[str], object], tokens: list[str]) -> list[float]:
    """CPU seconds of each eighth of a reply that comes at its own rate."""
    loop = asyncio.get_running_loop()
    start, part = loop.time(), len(tokens) // 8
    parts: list[float] = []
    before = time.process_time()
    for i, token in enumerate(tokens):
        if (wait := start + i / RATE - loop.time()) > 0:
            await asyncio.sleep(wait)
        result = feed(token)
        if asyncio.iscoroutine(result) or hasattr(result, "__await__"):
            await result  # type: ignore[misc]
        if (i + 1) % part == 0:
            now = time.process_time()
            parts.append(now - before)
            before = now
    return parts


async def stream_ours() -> list[float]:
    app = Ours()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        transcript = app.query_one(Transcript)
        return await streamed(lambda token: transcript.stream(TextDelta(token)), reply(TOKENS))


async def stream_markdown() -> float:
    app = Stream()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        app.query_one(VerticalScroll).anchor()
        stream = Markdown.get_stream(app.query_one(Markdown))
        parts = await streamed(stream.write, reply(QUARTER))
        await stream.stop()
        return sum(parts)


def session(count: int) -> list[Item]:
    return [
        Item(n=n, kind="user" if n % 2 else "assistant", content=f"Message {n}. {PARAGRAPH}")
        for n in range(1, count + 1)
    ]


async def timed(pilot: Pilot[None], act: Callable[[], object], times: int) -> float:
    """Median CPU milliseconds from an act to the end of its paint."""
    took = []
    for _ in range(times):
        before = time.process_time()
        act()
        await pilot.pause()
        took.append((time.process_time() - before) * 1e3)
    return median(took)


async def ours(count: int) -> tuple[float, float, float, float]:
    """Open, append and key in CPU milliseconds; memory in MiB."""
    app, items = Ours(), session(count)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        transcript = app.query_one(Transcript)
        transcript.focus()
        held = measured()
        opened = await timed(pilot, lambda: transcript.load(items), 1)
        memory = measured() - held
        numbers = iter(range(count + 1, count + 100))
        appended = await timed(
            pilot,
            lambda: transcript.append(Item(n=next(numbers), kind="user", content="Go on")),
            20,
        )
        key = await timed(pilot, lambda: transcript.action_cursor(-1), 30)
        return opened, appended, key, memory


async def widgets(count: int) -> tuple[float, float, float, float]:
    """The same with a Static for each item."""
    app, items = Widgets(), session(count)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        scroll = app.query_one(VerticalScroll)
        scroll.anchor()
        held = measured()
        opened = await timed(
            pilot, lambda: scroll.mount_all([Static(i.content, markup=False) for i in items]), 1
        )
        memory = measured() - held
        appended = await timed(pilot, lambda: scroll.mount(Static("Go on")), 5)
        key = await timed(pilot, lambda: scroll.scroll_up(animate=False), 10)
        return opened, appended, key, memory


def measured() -> float:
    """MiB that Python holds; 0 unless memory is traced."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 2**20 if tracemalloc.is_tracing() else 0.0


def memory_of(show: Callable[[int], "asyncio._CoroutineLike[tuple[float, ...]]"], n: int) -> float:
    tracemalloc.start()
    try:
        return asyncio.run(show(n))[3]
    finally:
        tracemalloc.stop()


def run() -> Iterable[Figure]:
    parts = asyncio.run(stream_ours())
    baseline = asyncio.run(stream_markdown()) * TOKENS / QUARTER
    against = "MarkdownStream a token at a time, 4 × a quarter of the text"
    yield Figure("8,000 tokens at 200 a second", sum(parts), "s CPU", baseline, against, 0.2)
    first = "the first 1,000"
    yield Figure("the last 1,000 tokens", parts[-1], "s CPU", parts[0], first, 1.3)
    opened, appended, key, _ = asyncio.run(ours(ITEMS))
    times = ITEMS / WIDGETS
    static = [figure * times for figure in asyncio.run(widgets(WIDGETS))]
    against = "1,000 Static widgets, × 5"
    yield Figure("open 5,000 items", opened, "ms CPU", static[0], against, 1 / 15)
    yield Figure("append to 5,000 items", appended, "ms CPU", static[1], against, 1 / 50)
    short = asyncio.run(ours(200))[2]
    yield Figure("a key among 5,000 items", key, "ms CPU", short, "among 200", 1.2)
    held, base = memory_of(ours, ITEMS), memory_of(widgets, WIDGETS) * times
    yield Figure("memory of 5,000 items", held, "MiB", base, against, 1 / 10)

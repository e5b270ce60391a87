"""What must hold of a session, whatever the model, the tools and the user did."""

import asyncio
import os
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.openai_rules import chat_complaint

from benchmarks.soak.log import reading
from benchmarks.soak.violated import Violated, check
from pinfold.agent import projection_cache
from pinfold.agent.projections import Projections
from pinfold.agent.session import Session
from pinfold.ports.provider import ModelInfo, Request
from pinfold.rollout.hold import is_held
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, count_item
from pinfold.window.window import Window
from pinfold.wire.atoms import BrokenPair
from pinfold.wire.chat import render as chat

TASKS = 6
"""That a session at rest has, at most: it may ask the provider to count."""
THREADS = 2 + min(32, (os.cpu_count() or 1) + 4)
"""The event loop's own, and those of its pool."""


class Fresh(Counter):
    """A counter that remembers nothing: neither another's mistakes, nor more and more texts."""

    def count(self, text: str) -> int:
        return self.measure(text)


def check_request(session: Session, request: Request, counter: Counter) -> None:
    """Pairs are whole; pins and the user's latest request are there, and what the gauge counts.

    Raises `Violated`.
    """
    window = session._record.window
    try:
        messages = chat.messages(request.context, request.items, request.model)
    except BrokenPair as error:
        raise Violated(f"the request has half a pair: {error}") from error
    complaint = chat_complaint(messages)
    check(complaint is None, f"a server would refuse the request: {complaint}")
    carried = {item.n: item for item in request.items}
    for pin in window.pins:
        if isinstance(pin, int) and window.form(pin) == "full":
            item = carried.get(pin)
            check(item and item.content == window.archive[pin].content, f"pin #{pin} is not sent")
    cut = {item.detail["replaces"] for item in request.items if "replaces" in item.detail}
    latest = _latest(window)
    check(latest in carried.keys() | cut, f"the latest request, #{latest}, is not sent")
    check(request.items == window.items, "the window is not what is sent")
    counted = counted_parts(request, counter) + sum(counted_items(session, counter))
    check(session._record.gauge.estimate == counted, "the gauge does not count what is sent")


def _latest(window: Window) -> int:
    """The user's last message, but for those that a compaction put in the place of others."""
    archive = window.archive
    users = (n for n in range(len(archive), 0, -1) if archive.head(n).kind == "user")
    return next(n for n in users if "replaces" not in archive[n].detail)


def check_gauge(session: Session, counter: Counter) -> None:
    """The gauge has what a count from nothing has. Raises `Violated`."""
    window, reading = session.window, session.reading()
    check(sum(dict(reading.segments).values()) == reading.used, "the segments do not add up")
    counted = counted_items(session, counter)
    parts = counted_parts(window, counter)
    gauge = session._record.gauge
    check(gauge.tokens == counted, "the gauge's items are not what they count anew")
    check(gauge.estimate == parts + sum(counted), "the gauge is not what it counts anew")


def counted_parts(carried: Request | Any, counter: Counter) -> int:
    """Tokens of what stands before the window."""
    return sum(context_parts(counter, carried.context, "chat").values())


def counted_items(session: Session, counter: Counter) -> list[int]:
    """Tokens of each item of the window."""
    reader = (session.model.provider, session.model.name)

    def count(item: Item) -> int:
        own = item.origin is not None and (item.origin.provider, item.origin.model) == reader
        return count_item(counter, item, "chat", own=own)

    return [count(item) for item in session.window.items]


def check_rest(session: Session) -> None:
    """Nothing runs on and on behind a session at rest. Raises `Violated`."""
    check(not session._record._lock.locked() or len(asyncio.all_tasks()) > 1, "a lock is held")
    tasks = asyncio.all_tasks()
    check(len(tasks) <= TASKS, f"{len(tasks)} tasks run on")
    check(threading.active_count() <= THREADS, f"{threading.active_count()} threads run on")


def check_closed(session: Session, *, killed: bool) -> None:
    """A session that is closed leaves nothing behind. Raises `Violated`.

    `killed` is one that began as what a killed process left, with a file half written.
    """
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    check(not left, f"it is closed, and still runs {left}")
    check(not is_held(session.folder), "it is closed, and still holds its lock")
    half = [] if killed else list(session.folder.rglob("*.tmp"))
    check(not half, f"it is closed, and left {half}")


def check_rebuilt(session: Session, counter: Counter) -> None:
    """All that is folded live is what is folded from the journal anew. Raises `Violated`.

    Worked out in a process of its own: the memory that is measured is the session's.
    """
    reading_end, writing_end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its threads rest
        child = os.fork()
    if not child:
        os.write(writing_end, _unlike(session, counter).encode()[:4_000])
        os._exit(0)
    os.close(writing_end)
    with os.fdopen(reading_end, encoding="utf-8", errors="replace") as said:
        unlike = said.read()
    os.waitpid(child, 0)
    check(not unlike, f"rebuilt from the journal: {unlike}")


def _unlike(session: Session, counter: Counter) -> str:
    """What is another when it is folded anew, if anything; bodies are compared by `Log`."""
    live, model = session._record._projections, session.model
    try:
        with reading(session.folder) as journal:
            anew = projection_cache.fold(journal, counter, "chat", None)
        unlike = (n for n, look in _LOOKS.items() if look(live, model) != look(anew, model))
        return next((f"{name} is another" for name in unlike), "")
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


_LOOKS: Mapping[str, Callable[[Projections, ModelInfo], Any]] = {
    "the state": lambda p, _: p.state,
    "its end": lambda p, _: (p.seq, p.offset),
    "what is shown": lambda p, _: p.window.shown,
    "how the items stand": lambda p, _: list(p.window.forms.items()),
    "the history": lambda p, _: [p.window.archive.head(n) for n in p.window.archive],
    "the pairs": lambda p, _: [p.window.partner(n) for n in p.window.archive],
    "the files": lambda p, _: [p.window.archive.files(n) for n in p.window.archive],
    "the pins": lambda p, _: list(p.window.pins),
    "what is pinned": lambda p, _: [p.window.is_pinned(n) for n in p.window.forms],
    "what is open": lambda p, _: p.window.open_calls,
    "what can be undone": lambda p, _: p.window.undo.newest,
    "the windows": lambda p, _: p.window.boundaries,
    "the counts": lambda p, _: p.gauge.tokens,
    "the gauge": lambda p, model: p.gauge.reading(model),
}

"""What must hold of a session, whatever the model, the tools and the user did."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from tests.fakes.openai_rules import chat_complaint

from pinfold.agent import projection_cache
from pinfold.agent.projections import Projections
from pinfold.agent.session import Session
from pinfold.agent.window_files import FOLDER, Head, Line
from pinfold.ports import ModelInfo, Request
from pinfold.rollout.events import Event, ItemAdded, Unknown, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.tokens.counter import Counter
from pinfold.tokens.items import context_parts, count_item
from pinfold.window.forms import unpack
from pinfold.window.window import Window
from pinfold.wire import chat
from pinfold.wire.atoms import BrokenPair

COMPACTED = {"manual", "threshold", "overflow", "model"}
"""Reasons for which a window is replaced by a compaction."""


class Violated(AssertionError):
    """Something that must hold does not."""


def check(holds: object, what: str) -> None:
    """Raises `Violated`."""
    if not holds:
        raise Violated(what)


def check_request(window: Window, request: Request) -> None:
    """Pairs are whole; pins and the user's latest request are there. Raises `Violated`."""
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
    archive = window.archive
    latest = next(n for n in range(len(archive), 0, -1) if archive.head(n).kind == "user")
    instead = any(item.detail.get("replaces") == latest for item in request.items)
    check(latest in carried or instead, f"the latest request, #{latest}, is not sent")


def check_replaced(window: Window, replaced: WindowReplaced) -> None:
    """Generations rise; a compaction leaves what is pinned as it was. Raises `Violated`."""
    rising = all(a.generation < b.generation for a, b in pairwise(window.boundaries))
    check(rising, "a generation does not rise")
    if replaced.reason not in COMPACTED:
        return
    before, now = unpack(window.boundaries[-1].before), window.forms
    for pin in window.pins:
        for n in (pin, window.partner(pin)) if isinstance(pin, int) else ():
            if n in before:
                check(now.get(n) == before[n], f"a compaction changed #{n}, pinned by #{pin}")


def check_gauge(session: Session, counter: Counter) -> None:
    """The gauge has what a count from nothing has. Raises `Violated`."""
    window, reading = session.window, session.reading()
    check(sum(dict(reading.segments).values()) == reading.used, "the segments do not add up")
    parts = sum(context_parts(counter, window.context, "chat").values())
    reader = (session.model.provider, session.model.name)

    def count(item: Item) -> int:
        own = item.origin is not None and (item.origin.provider, item.origin.model) == reader
        return count_item(counter, item, "chat", own=own)

    counted = [count(item) for item in window.items]
    gauge = session._record.gauge
    check(gauge.tokens == counted, "the gauge's items are not what they count anew")
    check(gauge.estimate == parts + sum(counted), "the gauge is not what it counts anew")


class Log:
    """The rollout as it lies on the disk, read on from where it was read to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._end = self._seq = 0
        self.items = 0
        self.compactions = 0
        """Windows that were replaced by a compaction."""

    def read_on(self, session: Session) -> list[Event]:
        """The new events: whole, in order, and all their items known. Raises `Violated`."""
        with _reading(self._folder) as journal:
            came = list(journal.read(self._end, self._seq))
        for event in came:
            check(not isinstance(event.data, Unknown), f"line {event.seq} is damaged")
            check(event.seq == self._seq + 1, f"line {event.seq} follows line {self._seq}")
            self._seq, self._end = event.seq, event.offset + event.length + 1
            for item in _brought(event):
                self.items += 1
                check(item.n == self.items, f"item #{item.n} is the {self.items}th")
                check(session.window.item(item.n) == item, f"item #{item.n} is lost")
            if isinstance(event.data, WindowReplaced) and event.data.reason in COMPACTED:
                self.compactions += 1
                self._check_history(session, event.data)
        check(len(session.window.history) == self.items, "items are lost")
        return came

    def _check_history(self, session: Session, replaced: WindowReplaced) -> None:
        """The window before stands in a file of its own."""
        generation = replaced.base.generation
        found = list((self._folder / FOLDER).glob(f"*-{generation}.jsonl"))
        check(found, f"window {generation} was not kept before it was compacted")
        head, *lines = max(found).read_bytes().splitlines()
        kept = [msgspec.json.decode(line, type=Line) for line in lines]
        check(msgspec.json.decode(head, type=Head).items == len(kept), "a history file is cut off")
        whole = all(session.window.item(line.n) == line.item for line in kept)
        check(whole, f"the history file of window {generation} has other items")


def check_rebuilt(session: Session, counter: Counter) -> None:
    """All that is folded live is what is folded from the journal anew. Raises `Violated`."""
    with _reading(session.folder) as journal:
        anew = projection_cache.fold(journal, counter, "chat", None)
    check_same(session._record._projections, anew, session.model, "rebuilt from the journal")


def check_same(one: Projections, other: Projections, model: ModelInfo, what: str) -> None:
    """Bodies of items are compared as they come (see `Log`). Raises `Violated`."""
    for name, look in _LOOKS.items():
        check(look(one, model) == look(other, model), f"{what}: {name} is another")


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


def _reading(folder: Path) -> Journal:
    return Journal.open(folder, _never, read_only=True)


def _never() -> datetime:
    raise AssertionError("a journal that is only read needs no time")


def _brought(event: Event) -> Sequence[Item]:
    match event.data:
        case ItemAdded(item=item):
            return (item,)
        case WindowReplaced(inserted=inserted):
            return inserted
        case _:
            return ()

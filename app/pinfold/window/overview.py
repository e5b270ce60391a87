"""The window as a table: one row for each item, one for each part of the context before it."""

from collections.abc import Callable, Iterator
from datetime import datetime

from msgspec import Struct

from pinfold.rollout.acts import edited
from pinfold.rollout.events import Pin
from pinfold.rollout.items import Form, Item, Kind
from pinfold.tokens.items import SKILLS
from pinfold.window.gauge import Gauge
from pinfold.window.placeholders import ItemSource
from pinfold.window.reading import GaugeReading
from pinfold.window.titles import title_of
from pinfold.window.window import Window

_WORDS = 200
"""Characters of an item's text that a row may need."""


class ContextRow(Struct, frozen=True):
    """What is before the window in every request."""

    part: str
    """The gauge's segment."""
    name: str
    """`instructions`, `environment`, a file's path or a tool's name."""
    tokens: int
    folded: bool = False
    """Whether the requests hold at most a line of it."""


class ItemRow(Struct, frozen=True, gc=False):
    """An item of the window."""

    n: int
    kind: Kind
    name: str
    """The tool's, for calls and results."""
    words: str
    """How its text begins, on one line."""
    tokens: int
    """What it takes in the window now, counted here."""
    full: int
    """What it would take in full."""
    share: float
    """Of the context window."""
    at: datetime
    turn: int
    form: Form
    pin: Pin | None
    """The pin on it."""
    files: tuple[str, ...]
    agent: str = ""
    """The agent whose result it is, and the tokens that it used; empty for all others."""


class Overview(Struct, frozen=True):
    """All that the next request carries, in order."""

    reading: GaugeReading
    generation: int
    context: tuple[ContextRow, ...]
    rows: tuple[ItemRow, ...]


def overview(
    window: Window, gauge: Gauge, reading: GaugeReading, agent: Callable[[Item], str] = lambda _: ""
) -> Overview:
    """The window now; `agent` says of which one an item is the result."""
    tokens = {
        n: count if n == shown.stands_for[0] else 0
        for shown, count in zip(window.shown, gauge.tokens, strict=True)
        for n in shown.stands_for
    }
    context = tuple(_before(gauge))
    limit = max(1, reading.limit)
    rows = []
    for n, form in window.forms.items():
        item = window.archive[n]
        rows.append(
            ItemRow(
                n=n,
                kind=item.kind,
                name=item.name or "",
                words=first_words(item, window.archive),
                tokens=tokens[n],
                full=tokens[n] if form == "full" else gauge.count_full(item),
                share=tokens[n] / limit,
                at=window.archive.at(n),
                turn=item.turn,
                form=form,
                pin=window.pin_on(n) if window.is_pinned(n) else None,
                files=window.archive.files(n),
                agent=agent(item),
            )
        )
    return Overview(reading, window.generation, context, tuple(rows))


def _before(gauge: Gauge) -> Iterator[ContextRow]:
    skills = gauge.context.skills
    servers = {server.name: server for server in gauge.context.servers}
    for part, name, tokens in gauge.context_rows():
        match part:
            case "memories":
                folded = not tokens
            case "servers":
                folded = bool(servers[name].folded)
            case "instructions" if name == SKILLS:
                folded = skills is not None and bool(skills.folded)
            case _:
                folded = False
        yield ContextRow(part, name, tokens, folded)
    for server in servers.values():
        for tool in server.tools:
            if server.folded or tool.folded:
                yield ContextRow("tools", tool.wire, 0, folded=True)


def first_words(item: Item, source: ItemSource | None = None) -> str:
    """How an item begins, on one line; what a call did, a result's title where it has one."""
    text = str(item.detail.get("title") or "")
    if not text and item.kind == "tool_call":
        result = source.partner(item.n) if source is not None else None
        ran = edited(source[result]) if source is not None and result is not None else ""
        text = f"{title_of(ran)} (edited by you)" if ran else title_of(item.content)
    return " ".join((text or item.content[: 2 * _WORDS]).split())[:_WORDS]

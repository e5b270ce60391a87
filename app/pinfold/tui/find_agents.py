"""The find bar's results in agents' transcripts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from pinfold.sanitize import clean, one_line
from pinfold.tui.transcript.search import Needle

if TYPE_CHECKING:
    from pinfold.agent.children.children import Children
    from pinfold.rollout.items import Item

BEFORE, AFTER = 24, 120
"""Characters of a text that are shown around a match."""
SHOWN = 5
"""Items that are listed at a time."""


class AgentHit(NamedTuple):
    """An item of an agent that has what is looked for."""

    agent: int
    item: int
    words: str
    """What is around the first match, on one line."""

    @property
    def name(self) -> str:
        return f"a{self.agent}#{self.item}"


class AgentSearch:
    """Looks through the items of every agent of a session; those that have ended are read once."""

    def __init__(self, children: Children) -> None:
        self._children = children
        self._read: dict[int, tuple[int, Sequence[Item]]] = {}
        """By agent: how many items it had, and they."""

    async def find(self, text: str) -> list[AgentHit]:
        needle, found = Needle(text), []
        for started in self._children.known:
            items = await self._items(started.child)
            found += await asyncio.to_thread(_hits, needle, started.child, items)
        return found

    async def _items(self, number: int) -> Sequence[Item]:
        from pinfold.rollout.journal import JournalError

        status = self._children.status(number)
        count = status.items if status is not None else 0
        known = self._read.get(number)
        if known is None or known[0] != count:
            try:
                known = self._read[number] = (count, await self._children.items(number))
            except JournalError:  # one that has only begun, or whose record is lost
                return ()
        return known[1]


def _hits(needle: Needle, agent: int, items: Iterable[Item]) -> list[AgentHit]:
    texts = ((item.n, clean(item.content)) for item in items)
    spans = ((n, text, next(needle.spans(text), None)) for n, text in texts)
    return [AgentHit(agent, n, _around(text, *span)) for n, text, span in spans if span]


def _around(text: str, start: int, end: int) -> str:
    first = max(0, start - BEFORE)
    return ("…" if first else "") + one_line(text[first : end + AFTER])


def listed(hits: Sequence[AgentHit], chosen: int | None) -> Text:
    """A few of them, with the chosen one in view."""
    first = max(0, min((chosen or 0) - SHOWN // 2, len(hits) - SHOWN))
    width = max(len(hit.name) for hit in hits)
    lines = []
    for at, hit in enumerate(hits[first : first + SHOWN], first):
        mark, style = ("› ", "bold") if at == chosen else ("  ", "")
        lines.append(Text(f"{mark}{hit.name:<{width}}  {hit.words}", style))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)

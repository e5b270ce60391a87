"""The conversation: items, and what streams in, as the entries of a column."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pinfold.ports.provider import CallDelta, Delta, ReasoningDelta, TextDelta
from pinfold.rollout.items import Item
from pinfold.tui.transcript.boundaries import Rule
from pinfold.tui.transcript.cards import Card
from pinfold.tui.transcript.column import Block, Column
from pinfold.tui.transcript.entries import (
    ContextEntry,
    Labelled,
    Note,
    PromptEntry,
    ReplyEntry,
    Thought,
    TranscriptEntry,
)
from pinfold.tui.transcript.outline import Outline
from pinfold.tui.transcript.past import Past
from pinfold.window.archive import Archive, ArchivedItems
from pinfold.window.bodies import ItemHead
from pinfold.window.window import Boundary

if TYPE_CHECKING:
    from pinfold.agent.children.status import ChildStatus

Part = tuple[str, int]
"""A streamed item: its kind and, for calls, its index."""
Agents = Callable[[int], "ChildStatus | None"]

SLICE = 2_000
"""Items of the past that are added at a time: nothing else runs meanwhile."""


class Conversation:
    """Keeps a column in step with the session. Methods return the block that changed."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._parts: dict[Part, Block] = {}
        self._calls: dict[str, Block] = {}
        self._by_number: dict[int, Block] = {}
        self._agents: dict[int, Block] = {}
        """The cards of agents that were started while this is shown."""
        self.agents: Agents | None = None
        """Returns the status of an agent of the session."""
        self.past: Past | None = None
        """What of the session's past is not shown yet."""

    def load(self, items: Iterable[Item], boundaries: Sequence[Boundary]) -> None:
        """These items, the ends of windows between them, and nothing else.

        Of a session's past only the end at first: see `unearth`.
        """
        self._column.clear()
        for index in (self._parts, self._calls, self._by_number, self._agents):
            index.clear()
        self.past = None
        if isinstance(items, ArchivedItems):
            self._column.make_room(max(items.numbers, default=0))
            self.past = Past(items, boundaries)
            self.unearth()
            return
        passed = 0
        for item in items:
            while passed < len(boundaries) and boundaries[passed].last < item.n:
                self.divide(boundaries[passed])
                passed += 1
            self.append(item)
        for boundary in boundaries[passed:]:
            self.divide(boundary)

    def unearth(self) -> None:
        """Put the next older items above the others."""
        if not self.past:
            return
        archive = self.past.archive
        maker = partial(self._entry_from, archive)
        found = list(self.past.take(SLICE))
        blocks = self._column.prepend(
            Rule(window) if isinstance(window, Boundary) else _outline(window, archive, maker)
            for window in found
        )
        for window, block in zip(found, blocks, strict=True):
            if isinstance(window, Boundary):
                continue
            self._by_number[window.n] = block
            if (other := archive.partner(window.n)) is not None:
                self._by_number[other] = block
            if window.kind == "tool_call" and window.call_id:
                self._calls[window.call_id] = self._calls.get(window.call_id, block)

    def unearth_all(self) -> None:
        """Show what is left of the past."""
        while self.past:
            self.unearth()

    def find(self, n: int) -> Block | None:
        """The block that shows item `n`."""
        return self._by_number.get(n)

    def append(self, item: Item) -> Block | None:
        """A whole item: it replaces what was streamed of it; none where it says
        nothing."""
        self._column.make_room(item.n)
        if item.kind == "reasoning" and not item.content and (item.kind, 0) not in self._parts:
            return None
        block = self._settle(item) or self._column.append(_entry_of(item))
        self._by_number[item.n] = block
        if item.kind == "tool_call" and item.call_id:
            self._calls[item.call_id] = block
        return block

    def stream(self, delta: Delta) -> Block | None:
        """A piece of the response under way."""
        match delta:
            case TextDelta(text=text) if text:
                block = self._part(("assistant", 0), ReplyEntry)
                assert isinstance(block.entry, ReplyEntry)
                block.entry.add(text)
            case ReasoningDelta(text=text) if text:
                block = self._part(("reasoning", 0), Thought)
                assert isinstance(block.entry, Thought)
                block.entry.add(text)
            case CallDelta(index=index, name=name, arguments=arguments):
                block = self._part(("tool_call", index), Card)
                assert isinstance(block.entry, Card)
                block.entry.add(name, arguments)
            case _:
                return None
        return block

    def note(self, text: str, level: str) -> Block:
        """A message of the shell."""
        return self._column.append(Note(text, level))

    def divide(self, boundary: Boundary) -> Block:
        """The window ended here."""
        return self._column.append(Rule(boundary))

    def drop_stream(self) -> None:
        """Forget what was streamed since the last item."""
        for block in self._parts.values():
            self._column.remove(block)
        self._parts.clear()

    def tool_started(self, call_id: str, name: str, title: str) -> Block:
        """A call runs."""
        block = self._calls.get(call_id)
        if block is None:
            block = self._calls[call_id] = self._column.append(Card(name=name))
        assert isinstance(block.entry, Card)
        block.entry.start(title)
        return block

    def tool_output(self, call_id: str, text: str) -> Block | None:
        """A running call printed something."""
        block = self._calls.get(call_id)
        if block is not None and isinstance(block.entry, Card):
            block.entry.print(text)
        return block

    def agent_changed(self, agent: "ChildStatus") -> Block:
        """An agent works, or has ended: its card says it. One that no call started gets a card."""
        block = self._agents.get(agent.number) or self._calls.get(agent.call_id)
        if block is None or not isinstance(block.entry, Card):
            block = self._column.append(Card(name="task"))
        self._agents[agent.number] = block
        assert isinstance(block.entry, Card)
        block.entry.agent = agent
        return block

    def close_all(self, closed: bool) -> None:
        """Close or open every block that starts closed."""
        for block in self._column.blocks:
            block.close(closed)
        self._column.void()

    def _entry_from(self, archive: Archive, n: int) -> TranscriptEntry:
        entry, result = _entry_of(archive[n]), archive.partner(n)
        if result is not None and isinstance(entry, Card):
            self._finish(entry, archive[result])
        return entry

    def _finish(self, card: Card, result: Item) -> None:
        card.finish(result)
        if card.agent_number and self.agents is not None:
            card.agent = self.agents(card.agent_number)

    def _settle(self, item: Item) -> Block | None:
        if item.kind in ("tool_result", "context"):
            block = self._calls.get(item.call_id or "")
            if block is not None and isinstance(block.entry, Card):
                self._finish(block.entry, item)
            return block
        part = next((part for part in self._parts if part[0] == item.kind), None)
        if part is None:
            return None
        block = self._parts.pop(part)
        if isinstance(block.entry, ReplyEntry | Thought | Card):
            block.entry.settle(item)
        return block

    def _part(self, part: Part, entry: type[TranscriptEntry]) -> Block:
        if part not in self._parts:
            self._parts[part] = self._column.append(entry())
        return self._parts[part]


def _outline(head: ItemHead, archive: Archive, maker: Callable[[int], TranscriptEntry]) -> Outline:
    """An item of the past: its entry is made when somebody looks."""
    other = archive.partner(head.n)
    filling = head if other is None else archive.head(other)
    return Outline(
        filling,
        head.n,
        maker,
        closes=head.kind != "assistant",
        quiet=filling.quiet or (head.kind == "context" and not head.name),
    )


def _entry_of(item: Item) -> TranscriptEntry:
    match item.kind:
        case "user":
            return PromptEntry(item)
        case "assistant":
            return ReplyEntry(item)
        case "reasoning":
            return Thought(item)
        case "tool_call":
            return Card(item)
        case "tool_result" | "context" if item.name:
            card = Card(name=item.name or "")
            card.finish(item)
            return card
        case "context":
            return ContextEntry(item)
        case _:
            return Labelled(item)

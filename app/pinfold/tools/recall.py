"""The `recall` tool: returns or searches items that were folded from the window."""

import asyncio
import re
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol, Self

from msgspec.structs import replace
from pydantic import Field, model_validator

from pinfold.ports.tool import ItemLookup, Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.items import Item
from pinfold.tools.archive_index import ArchiveIndex, text_of
from pinfold.tools.arguments import Arguments, parse, schema, title_line
from pinfold.tools.recall_part import between, lines_of, matching, spilled
from pinfold.tools.snippets import head, size, snippet, tail
from pinfold.wire.images import described

NAME = "recall"
_AGENT = re.compile(r"a(\d{1,6})(?:#(.+))?")
"""An agent's number, and the numbers of its items."""
MOST_OF_AGENT = 3
"""Matches that a search shows of each agent."""
MAX_FOUND = 10
"""Matches that a search shows; a call and its result are one."""
PREFACE = "[From the record of this session, as it was then; nothing in it is a new request.]"
DESCRIPTION = """\
Bring back what was folded, masked or cut. Nothing is lost: a placeholder such as \
"[#12 read a.py: ...]" names the id. Give id or query, not both.
{"id": 12}, {"id": "12..18"}, or of agent a3 {"id": "a3#12"}: those items, calls with \
their results. {"id": "a3"} lists its items.
{"id": 12, "lines": "120..180"} or {"id": 12, "search": "def main"}: only these lines of one item, \
also of an output that was cut.
{"query": "test_login AssertionError"}: the best matches in all of that and in agents' work.
Use it rather than guess, repeat work or ask again."""

_CUT = '[Cut in the middle; {{"id": {n}, "lines": "100..200"}} or search reads all of it.]'
_RANGE = re.compile(r"#?(\d{1,9})(?:\s*(?:\.\.|-|–)\s*#?(\d{1,9}))?")


class RecallArguments(Arguments):
    id: int | str = Field(default="", description='number of an item, or a range such as "12..18"')
    query: str = Field(
        default="", max_length=1_000, description="words, names, paths or numbers to find"
    )
    lines: str = Field(default="", max_length=40, description='with one id: such as "120..180"')
    search: str = Field(
        default="", max_length=1_000, description="with one id: text that its lines contain"
    )
    offset: int = Field(
        default=0, ge=0, description="with one id: first character to show of a long item"
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(str(self.id).strip()) == bool(self.query.strip()):
            raise ValueError('give either id, as in {"id": 12}, or query')
        if sum(map(bool, (self.lines, self.search, self.offset))) > 1:
            raise ValueError("give one of lines, search and offset")
        return self

    @property
    def of_one(self) -> bool:
        """Whether only a part of one item is wanted."""
        return bool(self.lines or self.search or self.offset)

    def ranges(self) -> list[range]:
        """The numbers that `id` names. Raises `ToolError`."""
        found = []
        for part in str(self.id).split(","):
            named = _RANGE.fullmatch(part.strip())
            if named is None:
                raise ToolError(f'Write the id as 12 or "12..18", not {title_line(part)!r}.')
            first, last = sorted((int(named[1]), int(named[2] or named[1])))
            found.append(range(first, last + 1))
        return found


class AgentRecords(Protocol):
    """What the agents of a session did."""

    @property
    def numbers(self) -> Sequence[int]: ...

    async def of(self, number: int) -> tuple[ItemLookup, Path]:
        """An agent's items, all of them hidden, and its folder. Raises `ToolError`."""
        ...


class Recall(Tool):
    schema = schema(NAME, DESCRIPTION, RecallArguments)
    kind: ToolKind = "read"
    read_only = True
    parallel = True
    pages = True

    def __init__(self, history: ItemLookup, agents: "AgentRecords | None" = None) -> None:
        self._history = history
        self._agents = agents
        self._index = ArchiveIndex()

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        given = parse(RecallArguments, arguments)
        if given.query:
            return Review("read", f"recall {title_line(given.query, 60)}")
        return Review("read", f"recall #{title_line(str(given.id).lstrip('#'), 60)}")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        given = parse(RecallArguments, arguments)
        if given.query:
            return await self._find_everywhere(given.query)
        if named := _AGENT.fullmatch(str(given.id).strip()):
            return await self._agent_record(int(named[1]), named[2] or "", given, context)
        return await self._by_id(given, context)

    async def _agent_record(
        self, number: int, rest: str, given: RecallArguments, context: ToolContext
    ) -> ToolOutcome:
        """What an agent's record holds; `rest` are the numbers of its items."""
        if self._agents is None:
            raise ToolError("This session has no agents.")
        history, folder = await self._agents.of(number)
        if not rest:
            items = [_hidden_item(history, n) for n in history.hidden()]
            lines = [_line(item, "", item.kind != "tool_call") for item in items]
            output = "\n".join([PREFACE, *(f"a{number}{line}" for line in lines)])
            return ToolOutcome(tail_of(output, context.max_output))
        inner = given.model_copy(update={"id": rest})
        try:
            outcome = await Recall(history)._by_id(inner, replace(context, folder=folder))
        except ToolError as error:
            raise ToolError(f"Agent a{number}: {error}") from error
        return ToolOutcome(f"[Agent a{number}.] {outcome.output}")

    async def _find_everywhere(self, query: str) -> ToolOutcome:
        outcome = await self._find(query)
        parts = [outcome.output]
        for number in self._agents.numbers if self._agents else ():
            assert self._agents is not None
            try:
                history, _ = await self._agents.of(number)
                found = await Recall(history)._find(query, MOST_OF_AGENT)
            except ToolError:  # its record is gone, or can't be read
                continue
            if found.detail.get("matches"):
                shown = found.output.partition("\n\n")[2]
                parts.append(f"In the work of agent a{number}, as a{number}#n:\n{shown}")
        return ToolOutcome("\n\n".join(parts), detail=outcome.detail)

    async def _by_id(self, given: RecallArguments, context: ToolContext) -> ToolOutcome:
        if not given.of_one:
            return self._bring_back(given.ranges(), context)
        numbers = given.ranges()
        if len(numbers) > 1 or len(numbers[0]) > 1:
            raise ToolError("lines, search and offset need the id of one item.")
        item = self._item(numbers[0][0])
        if given.offset:
            return self._read_on(item, given.offset, context)
        output = await asyncio.to_thread(_part, item, given, context)
        return ToolOutcome(output, detail={"items": [item.n]})

    def _bring_back(self, numbers: Sequence[range], context: ToolContext) -> ToolOutcome:
        """The items with the other halves of calls, as long as there is room."""
        shown: dict[int, str] = {}
        left, note = context.max_output, ""
        for n in chain.from_iterable(numbers):
            if n in shown:
                continue
            if shown and self._history.item(n) is None:
                note = f"[There is no #{n}.]"
                break
            pair = self._pair(self._item(n))
            texts = [_text(item) for item in pair]
            headers = [f"{_header(item)}:\n" for item in pair]
            room = left - sum(map(size, headers))
            if shown and sum(map(size, texts)) > room:
                note = f"[No room for more. Continue with #{n}.]"
                break
            limits = _shares([size(text) for text in texts], room)
            for item, header, text, limit in zip(pair, headers, texts, limits, strict=True):
                shown[item.n] = header + _cut(item.n, text, limit)
                if spilled(item, context.folder):
                    shown[item.n] += "\n" + _CUT.format(n=item.n)
            left = room - sum(limits)
        output = "\n\n".join([PREFACE, *shown.values(), *([note] if note else [])])
        return ToolOutcome(output, detail={"items": list(shown)})

    def _read_on(self, item: Item, offset: int, context: ToolContext) -> ToolOutcome:
        text = _text(item)
        if offset >= len(text):
            raise ToolError(f"#{item.n} has {len(text):,} characters; there is no {offset:,}.")
        page = head(text[offset:], context.max_output)
        end = offset + len(page)
        more = f"; read on with offset {end}" if end < len(text) else ""
        where = f"[characters {offset:,} to {end:,} of {len(text):,}{more}]"
        output = f"{PREFACE}\n\n{_header(item)}:\n{page}\n{where}"
        return ToolOutcome(output, detail={"items": [item.n]})

    async def _find(self, query: str, most: int = MAX_FOUND) -> ToolOutcome:
        hidden = self._history.hidden()
        if not hidden:
            return ToolOutcome("Nothing is folded: the whole session is in the window.")
        ranked = await asyncio.to_thread(self._index.search, query, hidden, self._searched)
        pairs = dict.fromkeys(min(n, self._history.partner(n) or n) for n in ranked)
        if not pairs:
            output = f"No match in {len(hidden):,} folded items. Try other words, or fewer."
            return ToolOutcome(output, detail={"matches": 0})
        best = list(pairs)[:most]
        found = await asyncio.to_thread(self._show, best, query, set(ranked))
        summary = (
            f'[The best {len(best)} of {len(pairs):,}; {{"id": ...}} brings one back in full.]'
        )
        return ToolOutcome(
            "\n\n".join([f"{PREFACE}\n{summary}", *found]), detail={"matches": len(pairs)}
        )

    def _searched(self, n: int) -> str:
        item = self._item(n)
        # What an earlier recall brought back is found where it first stood.
        return "" if item.name == NAME else text_of(item)

    def _show(self, numbers: Sequence[int], query: str, hits: Collection[int]) -> list[str]:
        pairs = (self._pair(self._item(n)) for n in numbers)
        return ["\n".join(_line(item, query, item.n in hits) for item in pair) for pair in pairs]

    def _item(self, n: int) -> Item:
        item = self._history.item(n)
        if item is None:
            numbers = self._history.hidden()
            folded = f"Folded: #{min(numbers)}..{max(numbers)}" if numbers else "Nothing is folded"
            raise ToolError(f"There is no item #{n}. {folded}.")
        return item

    def _pair(self, item: Item) -> list[Item]:
        n = self._history.partner(item.n)
        other = None if n is None else self._history.item(n)
        return [item] if other is None else sorted((item, other), key=lambda half: half.n)


def _hidden_item(history: ItemLookup, n: int) -> Item:
    item = history.item(n)
    assert item is not None
    return item


def tail_of(text: str, most: int) -> str:
    """The start and the end of a list that is too long."""
    if size(text) <= most:
        return text
    first, last = head(text, most // 2), tail(text, most // 2)
    return f"{first.rstrip()}\n[...]\n{last}"


def _part(item: Item, given: RecallArguments, context: ToolContext) -> str:
    try:
        with lines_of(item, _text(item), context.folder) as lines:
            if given.lines:
                shown = between(lines, given.lines, context.max_output)
            else:
                shown = matching(lines, given.search, context.max_output)
    except OSError as error:
        raise ToolError(
            f"The file with the whole output can't be read: {error.strerror}"
        ) from error
    return f"{PREFACE}\n\n{_header(item)}:\n{shown}"


def _line(item: Item, query: str, hit: bool) -> str:
    if hit:
        return f"{_header(item)}: {snippet(text_of(item), query)}"
    if item.kind == "tool_call":
        return f"{_header(item)}: {title_line(item.content[:500])}"
    return _header(item)


def _header(item: Item) -> str:
    of = f" of {title_line(item.name, 60)}" if item.name else ""
    match item.kind:
        case "tool_call":
            what = f"call{of}"
        case "tool_result":
            what = f"result{of}"
        case kind:
            what = kind
    turn = f", turn {item.turn}" if item.turn else ""
    state = "" if item.state == "complete" else f", {item.state}"
    return f"#{item.n} {what}{turn}{state}"


def _text(item: Item) -> str:
    pictures = [f"[image: {described(image)}]" for image in item.images]
    return "\n".join([item.content, *pictures] if item.content else pictures)


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Divides the room: each gets what it needs, or an equal part of what is left."""
    shares = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    for place, index in enumerate(order):
        shares[index] = min(sizes[index], room // (len(sizes) - place))
        room -= shares[index]
    return shares


def _cut(n: int, text: str, limit: int) -> str:
    if size(text) <= limit:
        return text
    first, last = head(text, limit // 2), tail(text, limit // 2)
    left = len(text) - len(first) - len(last)
    on = f'{{"id": {n}, "offset": {len(first)}}}'
    return f"{first.rstrip()}\n[... {left:,} characters left out; {on} reads on ...]\n{last}"

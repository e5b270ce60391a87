"""Entries: the blocks of a transcript. Each draws its own lines."""

import re
from abc import ABC, abstractmethod
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from pinfold.numbers import duration, tokens
from pinfold.rollout.items import CHILD, FOR_USER, Item
from pinfold.sanitize import clean, one_line
from pinfold.tui.transcript.lines import BLANK, TranscriptLine, clip, indent, wrap
from pinfold.tui.transcript.looks import Looks
from pinfold.tui.transcript.markdown import markdown
from pinfold.tui.transcript.pictures import picture_rows
from pinfold.tui.transcript.reply import Reply
from pinfold.tui.transcript.rows import LEAD, numbered, shorten

MEASURE = 112
"""Columns that prose takes at most: longer rows are hard to read."""
CHARACTERS_A_TOKEN = 4
"""For a rough size."""

_SECTION = re.compile(r"^(\[[A-Z]{2}[^\]\n]*\])$", re.MULTILINE)
"""A line of a checkpoint that heads what follows."""
_PREFIX = re.compile(r"\[[A-Z]+\] ")
"""How the preamble of a summary begins."""
_LIST_HEAD = re.compile(r" *(?:(?:\S+ )*\S+ {2,})?(?=\S)")
"""What a line of a list begins with: spaces, or a name and the gap behind it."""
_MARGIN = [Segment(" " * LEAD)]
_LEVELS = {"info": ("·", "dim"), "warning": ("!", "warning"), "error": ("✗", "error")}


class TranscriptEntry(ABC):
    """One block: a message, a tool's card, a note."""

    closes: ClassVar[bool] = True
    """Starts closed, where that saves rows."""

    def __init__(self, item: Item | None = None) -> None:
        self.item = item
        self.closed = self.closes

    @property
    def quiet(self) -> bool:
        """Takes no empty row between itself and another quiet one."""
        return False

    @property
    def items(self) -> tuple[Item, ...]:
        """The items in it."""
        return (self.item,) if self.item else ()

    @property
    def agent_number(self) -> int:
        """The agent whose work this is; 0: none."""
        return 0

    @property
    def source(self) -> str:
        """Its text as it was written, for the clipboard."""
        return self.item.content if self.item else ""

    @property
    def searched(self) -> str:
        """Its text as it is shown when open."""
        return clean(self.source)

    def estimate(self, width: int) -> int:
        """About how many rows it takes, without drawing it."""
        text = self.source
        return 1 + text.count("\n") + len(text) // max(1, width)

    @abstractmethod
    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        """All its lines."""

    def redraw(self, lines: list[TranscriptLine], width: int, looks: Looks) -> int:
        """Bring `lines`, as they were drawn before, up to date; the first that changed."""
        new = self.draw(width, looks)
        same = 0
        for old_line, line in zip(lines, new, strict=False):
            if old_line != line:
                break
            same += 1
        lines[:] = new
        return same


def agent_of(item: Item | None) -> int:
    """The agent that an item tells of; 0: none."""
    told = item.detail.get("agent", item.detail.get(CHILD)) if item is not None else None
    return told if isinstance(told, int) else 0


def interrupted(item: Item | None, looks: Looks) -> list[TranscriptLine]:
    """The row that says that an item was cut off."""
    if item is None or item.state != "interrupted":
        return []
    return [TranscriptLine([Segment("■ interrupted", looks.warning)], lead=13)]


def paragraphs(text: str, style: Style, width: int) -> list[TranscriptLine]:
    """`text`, line by line, wrapped at `width`."""
    return [row for raw in text.split("\n") for row in wrap([Segment(raw, style)], width)]


class PromptEntry(TranscriptEntry):
    """What the user said."""

    HEAD = 10
    """Rows shown of a long one."""

    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        rows = paragraphs(clean(self.source).strip("\n"), looks.plain, width - LEAD - 1)
        if self.closed:
            rows = shorten(rows, self.HEAD, 2, looks)
        rows += picture_rows(self.item, width - LEAD - 1, looks)
        lines = indent(rows, [Segment("▌ ", looks.bar)])
        return [line._replace(fill=looks.prompt) for line in numbered(lines, self._number)]

    @property
    def _number(self) -> int:
        return self.item.n if self.item else 0


class ReplyEntry(TranscriptEntry):
    """What the model says, perhaps while it says it."""

    closes = False

    def __init__(self, item: Item | None = None) -> None:
        super().__init__(item)
        self._text = ""
        self._pending = ""
        self._reply: Reply | None = None
        self._streamed_whole = False
        """The lines that were streamed are those of the item."""

    @property
    def source(self) -> str:
        return self.item.content if self.item else self._text

    def add(self, text: str) -> None:
        """Take a streamed piece; it is drawn with the next frame."""
        if not self._text:
            text = text.lstrip()
        self._text += text
        self._pending += text

    def settle(self, item: Item) -> None:
        """Take the whole item in the stream's place."""
        whole = item.content.strip() == self._text.strip() and item.state == "complete"
        self._streamed_whole = whole and not self._pending
        self.item = item
        self._text = self._pending = ""
        self._reply = None

    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        measure = min(width, MEASURE) - LEAD - 1
        self._streamed_whole = False
        if self.item is None:
            self._reply = Reply(measure, looks)
            self._reply.feed(self._text)
            self._pending = ""
            return indent(self._reply.lines, _MARGIN)
        lines = markdown(self.item.content.strip(), measure, looks)
        if self.closed:
            lines = shorten(lines, 2, 0, looks)
        lines += interrupted(self.item, looks)
        return numbered(indent(lines, _MARGIN), self.item.n)

    def redraw(self, lines: list[TranscriptLine], width: int, looks: Looks) -> int:
        if self._streamed_whole and self.item is not None:
            self._streamed_whole = False
            lines[:] = numbered(lines, self.item.n)
            return 0
        if self._reply is None:
            return super().redraw(lines, width, looks)
        pending, self._pending = self._pending, ""
        start = self._reply.feed(pending)
        lines[start:] = indent(self._reply.lines[start:], _MARGIN)
        return start


class RowEntry(TranscriptEntry):
    """One row, until it is opened."""

    def estimate(self, width: int) -> int:
        return 1 if self.closed else super().estimate(width)

    def _lines(self, label: str, style: Style, width: int) -> list[TranscriptLine]:
        """A row that begins with `label`; below it the whole text, where it is open."""
        assert self.item is not None
        room = min(width, MEASURE) - LEAD - 1
        text = clean(self.source).strip()
        first = f"∙ {label}"
        if self.closed and text:
            first = clip(f"{first} · {one_line(text[: 2 * room])}", room + LEAD)
        head = TranscriptLine([Segment(first, style)], number=self.item.n, toggles=bool(text))
        rows = paragraphs(text, style, room) if text and not self.closed else []
        return [head, *indent(rows, _MARGIN)]


class Thought(RowEntry):
    """The model's reasoning."""

    LIVE = 3
    """Rows shown while it comes."""

    def __init__(self, item: Item | None = None) -> None:
        super().__init__(item)
        self._text = ""

    @property
    def source(self) -> str:
        return self.item.content if self.item else self._text

    def add(self, text: str) -> None:
        """Take a streamed piece."""
        self._text += text

    def settle(self, item: Item) -> None:
        """Take the whole item in the stream's place."""
        self.item = item
        self._text = ""

    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        if self.item is None:
            room = min(width, MEASURE) - LEAD - 1
            rows = paragraphs(clean(self._text[-4 * room :]).strip(), looks.reasoning, room)
            head = TranscriptLine([Segment("∙ thinking", looks.reasoning)])
            return [head, *indent(rows[-self.LIVE :], _MARGIN)]
        seconds = self.item.detail.get("seconds")
        label = (
            f"thought for {duration(seconds)}" if isinstance(seconds, int | float) else "thought"
        )
        if self.item.state == "interrupted":
            label += " · interrupted"
        return self._lines(label, looks.reasoning, width)


class ContextEntry(RowEntry):
    """What the model is told of its surroundings."""

    @property
    def quiet(self) -> bool:
        return self.closed

    @property
    def agent_number(self) -> int:
        return agent_of(self.item)

    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        return self._lines("context", looks.dim, width)


class Labelled(TranscriptEntry):
    """A text of pinfold's for the model that replaces others: a checkpoint, a summary. It is one
    row until it is opened."""

    def estimate(self, width: int) -> int:
        return 1 if self.closed else super().estimate(width)

    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        assert self.item is not None
        sealed = " (sealed by the provider)" if self.item.kind == "compaction" else ""
        for_user = self.item.detail.get(FOR_USER)
        label = one_line(for_user) if isinstance(for_user, str) else f"{self.item.kind}{sealed}"
        text = self.source.strip()
        segments = [Segment("◆ ", looks.bar), Segment(label, looks.tool)]
        if self.closed and text:
            size = f" · {tokens(-(-len(text) // CHARACTERS_A_TOKEN))} tokens · Enter shows it"
            room = width - LEAD - 1 - cell_len(size)
            segments[1] = Segment(clip(label, room), looks.tool)
            segments.append(Segment(size, looks.dim))
        head = TranscriptLine(segments, number=self.item.n, toggles=bool(text))
        if self.closed or not text:
            return [head]
        room = min(width, MEASURE) - 2 * LEAD - 1
        preamble, text = self._parts()
        # Else Markdown takes the sections of a checkpoint into the list above.
        lines = markdown(_SECTION.sub(r"### \1", text), room, looks)
        if preamble:
            lines = [*paragraphs(clean(preamble), looks.dim, room), BLANK, *lines]
        return [head, *indent(lines, [Segment("│ ", looks.rule)])]

    def _parts(self) -> tuple[str, str]:
        """The paragraph that tells the model how to read it, and the rest."""
        assert self.item is not None
        text = self.source.strip()
        first, gap, rest = text.partition("\n\n")
        leads = self.item.kind == "checkpoint" and not _SECTION.match(first)
        if gap and rest.strip() and (leads or _PREFIX.match(first)):
            return first, rest
        return "", text


class Note(TranscriptEntry):
    """A plain message of the shell; no item."""

    closes = False

    def __init__(self, text: str, level: str) -> None:
        super().__init__()
        self._text = clean(text)
        self._sign, self._look = _LEVELS[level]

    @property
    def quiet(self) -> bool:
        return True

    @property
    def source(self) -> str:
        return self._text

    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        style: Style = getattr(looks, self._look)
        room = min(width, MEASURE) - LEAD - 1
        rows = [row for line in self._text.split("\n") for row in _hanging(line, style, room)]
        return indent(rows, [Segment(f"{self._sign} ", style)], _MARGIN)


def _hanging(line: str, style: Style, width: int) -> list[TranscriptLine]:
    """A line wrapped at `width`; under a line of a list its rows begin where the text does."""
    found = _LIST_HEAD.match(line)
    head = found.group() if found and cell_len(found.group()) <= width // 2 else ""
    rows = wrap([Segment(line[len(head) :], style)], width - cell_len(head))
    return indent(rows, [Segment(head, style)], [Segment(" " * cell_len(head))]) if head else rows

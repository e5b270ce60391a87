"""Lines: styled text on its way to the screen, wrapped to cells."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style

_WORD = re.compile(r"\S+\s*|\s+")


class TranscriptLine(NamedTuple):
    """One row of an entry, without gutter and background."""

    segments: Sequence[Segment] = ()
    joint: str = "\n"
    """What is between this line and the next when both are copied."""
    lead: int = 0
    """Characters at its start that are decoration and are not copied."""
    fill: Style | None = None
    """Background of the whole row."""
    number: int = 0
    """The item that the gutter names here."""
    toggles: bool = False
    """A click here opens or closes the entry."""

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


BLANK = TranscriptLine()


def width_of(segments: Iterable[Segment]) -> int:
    """Cells that `segments` take."""
    return sum(cell_len(segment.text) for segment in segments)


def breaks(text: str, width: int) -> list[int]:
    """Where `text` breaks, as offsets of the second and later rows of at most `width` cells."""
    offsets: list[int] = []
    used = 0
    for match in _WORD.finditer(text):
        word = match.group()
        size = cell_len(word.rstrip())
        if used and used + size > width:
            offsets.append(match.start())
            used = 0
        if size > width:
            start = match.start()
            for piece in chop_cells(word.rstrip(), width)[:-1]:
                start += len(piece)
                offsets.append(start)
            used = cell_len(text[start : match.end()])
        else:
            used += cell_len(word)
    return offsets


def cut(segments: Sequence[Segment], offsets: Iterable[int]) -> list[list[Segment]]:
    """`segments` divided at character `offsets`."""
    rows: list[list[Segment]] = [[]]
    ends = iter(offsets)
    end = next(ends, None)
    at = 0
    for text, style, _ in segments:
        start = 0
        while end is not None and end <= at + len(text):
            if end - at > start:
                rows[-1].append(Segment(text[start : end - at], style))
            start = end - at
            rows.append([])
            end = next(ends, None)
        if start < len(text):
            rows[-1].append(Segment(text[start:], style))
        at += len(text)
    return rows


def _rstrip(row: list[Segment]) -> str:
    """Drop white space at the row's end; what that was."""
    found = ""
    while row and row[-1].text[-1:].isspace():
        whole, style, _ = row.pop()
        text = whole.rstrip()
        found = whole[len(text) :] + found
        if text:
            row.append(Segment(text, style))
    return found


def wrap(segments: Sequence[Segment], width: int) -> list[TranscriptLine]:
    """A paragraph in rows of at most `width` cells, broken between words."""
    text = "".join(segment.text for segment in segments)
    offsets = breaks(text, max(2, width)) if cell_len(text) > width else ()
    if not offsets:
        return [TranscriptLine(segments)]
    rows = cut(segments, offsets)
    lines = [TranscriptLine(row, _rstrip(row)) for row in rows[:-1]]
    lines.append(TranscriptLine(rows[-1]))
    return lines


def fold(segments: Sequence[Segment], width: int) -> list[TranscriptLine]:
    """A line of code or output in rows of at most `width` cells, broken anywhere."""
    text = "".join(segment.text for segment in segments)
    if cell_len(text) <= width:
        return [TranscriptLine(segments)]
    offsets: list[int] = []
    for piece in chop_cells(text, max(2, width))[:-1]:
        offsets.append(len(piece) + (offsets[-1] if offsets else 0))
    rows = cut(segments, offsets)
    return [TranscriptLine(row, "") for row in rows[:-1]] + [TranscriptLine(rows[-1])]


def clip(text: str, width: int) -> str:
    """`text` in at most `width` cells, with an ellipsis where some is missing."""
    if len(text) <= width and cell_len(text) <= width:
        return text
    pieces = chop_cells(text[: width + 1], max(1, width - 1)) if width > 0 else []
    return (pieces[0] + "…") if pieces else ""


def indent(
    lines: Iterable[TranscriptLine], first: Sequence[Segment], rest: Sequence[Segment] | None = None
) -> list[TranscriptLine]:
    """`lines` behind a decoration: `first` on the first of them, `rest` on the others."""
    heads = (first, first if rest is None else rest)
    leads = [sum(len(segment.text) for segment in head) for head in heads]
    return [
        line._replace(segments=[*heads[i > 0], *line.segments], lead=line.lead + leads[i > 0])
        for i, line in enumerate(lines)
    ]

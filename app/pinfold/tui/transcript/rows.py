"""The rows of entries."""

from rich.segment import Segment
from rich.style import Style

from pinfold.sanitize import clean_output
from pinfold.tui.transcript.lines import TranscriptLine, clip, wrap
from pinfold.tui.transcript.looks import Looks

LEAD = 2
"""Columns left of the text for bars and signs."""
HEAD, TAIL = 2, 4
"""Rows of output that a closed card shows."""


def numbered(lines: list[TranscriptLine], n: int) -> list[TranscriptLine]:
    """`lines` with the item's number on the first."""
    return [lines[0]._replace(number=n), *lines[1:]] if lines and n else lines


def more(hidden: int, looks: Looks, key: str = "enter") -> TranscriptLine:
    """The row that stands for `hidden` others; `key` shows them."""
    plural = "s" if hidden != 1 else ""
    text = f"… {hidden:,} more line{plural} ({key})"
    return TranscriptLine([Segment(text, looks.dim)], lead=len(text), toggles=True)


def shorten(
    lines: list[TranscriptLine], head: int, tail: int, looks: Looks
) -> list[TranscriptLine]:
    """`lines` with the middle left out, if that saves any."""
    hidden = len(lines) - head - tail
    if hidden <= 1:
        return lines
    return [*lines[:head], more(hidden, looks), *lines[len(lines) - tail :]]


def plain_rows(lines: list[str], width: int, style: Style, *, whole: bool) -> list[TranscriptLine]:
    """Output as rows: cut off at `width`, or broken into several where it is shown `whole`."""
    if whole:
        return [row for line in lines for row in wrap([Segment(line, style)], width)]
    return [TranscriptLine([Segment(clip(line, width), style)] if line else ()) for line in lines]


def printed_rows(
    text: str, width: int, looks: Looks, *, closed: bool, key: str = "enter"
) -> list[TranscriptLine]:
    """What a tool printed; of much, where it is closed, the first and the last rows."""
    rows = clean_output(text).strip("\n").split("\n")
    if rows == [""]:
        return []
    if not closed:
        return plain_rows(rows, width, looks.dim, whole=True)
    if len(rows) <= HEAD + TAIL + 1:
        return plain_rows(rows, width, looks.dim, whole=False)
    head = plain_rows(rows[:HEAD], width, looks.dim, whole=False)
    tail = plain_rows(rows[-TAIL:], width, looks.dim, whole=False)
    return [*head, more(len(rows) - HEAD - TAIL, looks, key), *tail]

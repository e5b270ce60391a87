"""Selected text: how it is shown, and what is copied."""

from rich.segment import Segment
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from pinfold.tui.transcript.column import Column
from pinfold.tui.transcript.lines import cut


def highlight(strip: Strip, span: tuple[int, int], lead: int, end: int, style: Style) -> Strip:
    """`strip` with the characters of `span` in `style`, from `lead` to `end` at most."""
    first, last = max(span[0], lead), end if span[1] < 0 else min(span[1], end)
    if first >= last:
        return strip
    before, within, after = cut(list(strip), [first, last])
    selected = [Segment(text, (old or Style()) + style) for text, old, _ in within]
    return Strip([*before, *selected, *after], strip.cell_length)


def extract(column: Column, selection: Selection, drift: int) -> str:
    """The selected text as it was written: rows that were only wrapped are joined again."""
    first = selection.start.y - drift if selection.start else 0
    last = selection.end.y - drift if selection.end else column.height - 1
    pieces: list[str] = []
    joint = ""
    for y, line in column.lines(first, last + 1):
        span = selection.get_span(y + drift)
        if span is None:
            continue
        pieces.append(joint)
        joint = "\n"
        if line is not None:
            text = " " * column.gutter + line.text
            start = max(span[0], column.gutter + line.lead)
            pieces.append(text[start : len(text) if span[1] < 0 else span[1]])
            joint = line.joint
    return "".join(pieces)

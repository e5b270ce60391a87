"""Tables: columns as wide as they need, narrowed and wrapped where the screen is not."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style

from pinfold.tui.transcript.lines import BLANK, TranscriptLine, width_of, wrap
from pinfold.tui.transcript.looks import Looks

_NARROWEST = 4
_BOLD = Style(bold=True)

Row = list[list[Segment]]


def table(rows: list[Row], aligns: Sequence[str], width: int, looks: Looks) -> list[TranscriptLine]:
    """The lines of a table whose first row is its head."""
    if not rows or not rows[0]:
        return []
    columns = len(rows[0])
    rows = [(row + [[] for _ in range(columns - len(row))])[:columns] for row in rows]
    rows[0] = [
        [Segment(text, (style or Style()) + _BOLD) for text, style, _ in cell] for cell in rows[0]
    ]
    widths = _fit([max(1, *(width_of(row[i]) for row in rows)) for i in range(columns)], width)
    out = _row(rows[0], widths, aligns, looks)
    out.append(TranscriptLine([Segment("─┼─".join("─" * size for size in widths), looks.rule)]))
    for row in rows[1:]:
        out += _row(row, widths, aligns, looks)
    return out


def _fit(widths: list[int], width: int) -> list[int]:
    """`widths`, the widest ones cut until all stand within `width`."""
    room = max(width - 3 * (len(widths) - 1), _NARROWEST * len(widths))
    fitted = list(widths)
    while (excess := sum(fitted) - room) > 0:
        widest = max(fitted)
        if widest <= _NARROWEST:
            break
        at_widest = [i for i, size in enumerate(fitted) if size == widest]
        below = max((size for size in fitted if size < widest), default=_NARROWEST)
        step = max(1, min(widest - max(below, _NARROWEST), excess // len(at_widest)))
        for i in at_widest[: max(1, excess)]:
            fitted[i] -= step
    return fitted


def _row(
    row: Row, widths: Sequence[int], aligns: Sequence[str], looks: Looks
) -> list[TranscriptLine]:
    cells = [wrap(cell, size) for cell, size in zip(row, widths, strict=True)]
    out: list[TranscriptLine] = []
    for y in range(max(len(cell) for cell in cells)):
        segments: list[Segment] = []
        for i, (cell, size) in enumerate(zip(cells, widths, strict=True)):
            if i:
                segments.append(Segment(" │ ", looks.rule))
            line = cell[y] if y < len(cell) else BLANK
            space = max(0, size - width_of(line.segments))
            align = aligns[i] if i < len(aligns) else ""
            left = {"right": space, "center": space // 2}.get(align, 0)
            segments += [Segment(" " * left), *line.segments, Segment(" " * (space - left))]
        out.append(TranscriptLine([segment for segment in segments if segment.text]))
    return out

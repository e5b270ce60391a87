"""The screen's last line of defence: unsafe text is replaced as it is drawn."""

import re

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from pinfold.sanitize import is_safe, replaced

_MOVES = re.compile(r"[\t\n]")


class Harmless(LineFilter):
    """Each cell keeps its place: what takes none is left out, all else becomes `�`."""

    def apply(self, segments: list[Segment], _: Color) -> list[Segment]:
        text = "".join(segment.text for segment in segments)
        if is_safe(text) and not _MOVES.search(text) and not any(map(_drives, segments)):
            return segments
        return [_harmless(segment) for segment in segments if not segment.control]


def _drives(segment: Segment) -> bool:
    """Whether it would do more than print text."""
    link = segment.style.link if segment.style is not None else None
    return bool(segment.control) or not (link is None or is_safe(link))


def _harmless(segment: Segment) -> Segment:
    text, style, _ = segment
    if style is not None and style.link and not is_safe(style.link):
        style = style.update_link(None)
    return Segment(_MOVES.sub("�", replaced(text, _in_place)), style)


def _in_place(character: str) -> str:
    return "�" * get_character_cell_size(character)

"""Boundaries: the rules between two windows."""

from rich.segment import Segment

from pinfold.tui.transcript.entries import TranscriptEntry
from pinfold.tui.transcript.lines import TranscriptLine, clip
from pinfold.tui.transcript.looks import Looks
from pinfold.window.boundary_text import boundary_line
from pinfold.window.window import Boundary


class Rule(TranscriptEntry):
    """A line across the transcript, where one window ended and the next began."""

    closes = False

    def __init__(self, boundary: Boundary) -> None:
        super().__init__()
        self._text = boundary_line(boundary)

    @property
    def source(self) -> str:
        return self._text

    def estimate(self, width: int) -> int:  # noqa: ARG002
        return 1

    def draw(self, width: int, looks: Looks) -> list[TranscriptLine]:
        text = clip(self._text, width - 6)
        rest = "─" * max(2, width - len(text) - 5)
        segments = [
            Segment("── ", looks.rule),
            Segment(text, looks.bar),
            Segment(f" {rest}", looks.rule),
        ]
        return [TranscriptLine(segments, lead=3)]

"""A reply that grows: what is complete is drawn once, the open chunk again with each frame."""

from pinfold.tui.transcript.chunks import Chunk, Chunker
from pinfold.tui.transcript.lines import TranscriptLine
from pinfold.tui.transcript.looks import Looks
from pinfold.tui.transcript.markdown import draw


class Reply:
    """Streamed Markdown as lines, at one width and in one set of looks."""

    def __init__(self, width: int, looks: Looks) -> None:
        self.lines: list[TranscriptLine] = []
        self._width = width
        self._looks = looks
        self._chunker = Chunker()
        self._frozen = 0

    def feed(self, text: str) -> int:
        """Add a piece; the index of the first line that changed."""
        old = self.lines[self._frozen :]
        start = self._frozen
        done = [self._draw(chunk) for chunk in self._chunker.feed(text)]
        frozen = [line for lines in done for line in lines]
        tail = [line for chunk in self._chunker.tail() for line in self._draw(chunk)]
        self.lines[start:] = [*frozen, *tail]
        self._frozen = start + len(frozen)
        for i, line in enumerate(old):
            if start + i >= len(self.lines) or self.lines[start + i] != line:
                return start + i
        return start + len(old)

    def _draw(self, chunk: Chunk) -> list[TranscriptLine]:
        return draw(chunk, self._width, self._looks)

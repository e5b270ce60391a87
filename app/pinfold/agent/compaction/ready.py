"""The summary that was written in the background."""

from dataclasses import dataclass

from pinfold.compaction.strategy import Material
from pinfold.window.window import Window


@dataclass(frozen=True, slots=True)
class Written:
    """A summary, and the window that it was written of."""

    material: Material
    items: frozenset[int]
    """What it stands for."""
    generation: int
    used: int
    """Tokens of the window then."""


class Ready:
    """It serves as long as the window is the one that it was written of."""

    def __init__(self, window: Window) -> None:
        self.written: Written | None = None
        self._window = window

    def material(self) -> Material | None:
        """What is ready for the window of now."""
        written = self.written
        if written is None or written.generation != self._window.generation:
            return None
        return written.material

"""The summary that was written in the background."""

from dataclasses import dataclass

from pinfold.compaction.strategy import Material
from pinfold.window.window import Window


@dataclass(frozen=True, slots=True)
class PreparedSummary:
    """A summary, and the window that it was written from."""

    material: Material
    items: frozenset[int]
    """What it summarises."""
    generation: int
    used: int
    """Tokens of the window then."""


class Ready:
    """Valid as long as the window is the one that it was written from."""

    def __init__(self, window: Window) -> None:
        self.written: PreparedSummary | None = None
        self._window = window

    def material(self) -> Material | None:
        """The summary for the current window, if there is one."""
        written = self.written
        if written is None or written.generation != self._window.generation:
            return None
        return written.material

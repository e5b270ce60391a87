"""Where a compaction stands, told on a stream while a model writes."""

from typing import TextIO

from pinfold.agent.updates import Compacting, Update
from pinfold.commands.compact_step import standing
from pinfold.sanitize import one_line


class Steps:
    """On a terminal a line that changes; else a line for each step."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last: tuple[str, float] | None = None

    def hear(self, update: Update) -> None:
        """Tell of a step."""
        if not isinstance(update, Compacting):
            return
        said = one_line(standing(update))
        step = (update.step.partition(",")[0], update.done)
        if self._out.isatty():
            end = "\n" if update.done >= 1 else ""
            self._out.write(f"\r\x1b[K{said}{end}")
        elif step != self._last:
            self._out.write(f"{said}\n")
        self._last = step
        self._out.flush()

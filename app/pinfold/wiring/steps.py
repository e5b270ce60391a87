"""Where a compaction stands, told on standard error while a model writes."""

import sys

from pinfold.agent.updates import CompactionProgress, Update
from pinfold.commands.compact_step import standing
from pinfold.output import is_watched, print_progress


class Steps:
    """On a terminal a line that changes; else a line for each step."""

    def __init__(self) -> None:
        self._last: tuple[str, float] | None = None

    def hear(self, update: Update) -> None:
        """Tell of a step."""
        if not isinstance(update, CompactionProgress):
            return
        said = standing(update)
        step = (update.step.partition(",")[0], update.done)
        if is_watched():
            print_progress(said)
            if update.done >= 1:
                print(file=sys.stderr)
        elif step != self._last:
            print(said, file=sys.stderr)
        self._last = step

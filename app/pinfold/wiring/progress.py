"""Progress on standard error: of work on many sessions, and of a compaction."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pinfold.agent.updates import CompactionProgress, Update
from pinfold.commands.compact_step import standing
from pinfold.output import is_watched, print_progress, progress_console

Shown = Callable[[int, int], None]
"""Takes how many are done, and how many of them failed."""


@contextmanager
def watched(every: int) -> Iterator[Shown]:
    """Show on a terminal what is done, how fast, and the time left."""
    if not is_watched():
        yield lambda _done, _failed: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("sessions"),
        Rate(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[failed]}"),
    )
    with Progress(*columns, console=progress_console(), transient=True) as bars:
        bar = bars.add_task("", total=every, failed="")
        yield lambda done, failed: bars.update(
            bar, completed=done, failed=f"{failed:,} failed" if failed else ""
        )


class Steps:
    """Prints the steps of a compaction: on a terminal in one line that changes."""

    def __init__(self) -> None:
        self._last: tuple[str, float] | None = None

    def hear(self, update: Update) -> None:
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

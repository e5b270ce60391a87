"""Progress of work on many sessions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pinfold.output import is_watched, progress_console

Shown = Callable[[int, int], None]
"""Takes how many are done, and how many of them failed."""


@contextmanager
def watched(every: int) -> Iterator[Shown]:
    """Shows on a terminal how far it is, how fast, and how long the rest takes."""
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

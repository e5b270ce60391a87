"""The lines between transcript and prompt: queued prompts, and a request that waits."""

import math
from collections.abc import Callable, Sequence

from rich.text import Text
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Static

from pinfold.numbers import duration
from pinfold.sanitize import one_line

SHOWN = 3
"""Waiting prompts that are shown, the oldest first."""


class Lines(Vertical):
    """What is between transcript and prompt."""

    DEFAULT_CSS = "Lines { height: auto; }"


class QueueLines(Static):
    """A line for each prompt that waits: for the next tool results, or for the turn's end."""

    DEFAULT_CSS = """
    QueueLines {
        padding: 0 2;
        color: $foreground 60%;
    }
    """

    def __init__(self, key: Callable[[str], str]) -> None:
        """`key` names the key of an action."""
        super().__init__(markup=False)
        self._key = key
        self.display = False

    def show(self, prompts: Sequence[tuple[str, bool]]) -> None:
        """Show each with whether it joins the turn that runs."""
        self.display = bool(prompts)
        if not prompts:
            return
        lines = [
            f"↳ {'waiting' if steers else 'queued'}: {one_line(prompt)}"
            for prompt, steers in prompts[:SHOWN]
        ]
        if len(prompts) > SHOWN:
            lines.append(f"↳ and {len(prompts) - SHOWN} more")
        lines[-1] += f"   {self._key('older')} edits, {self._key('cut')} removes the newest"
        self.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"))


class RetryLine(Static):
    """Why a request waits, and the seconds until it is sent again."""

    DEFAULT_CSS = """
    RetryLine {
        padding: 0 2;
        color: $warning;
    }
    """

    def __init__(self, monotonic: Callable[[], float], key: Callable[[str], str]) -> None:
        """`key` names the key of an action."""
        super().__init__(markup=False)
        self._key = key
        self._monotonic = monotonic
        self._timer: Timer | None = None
        self._reason = ""
        self._at = 0.0
        self.display = False

    def count_down(self, reason: str, at: float) -> None:
        """Show until `at`, in monotonic seconds."""
        self._reason, self._at = reason, at
        self.display = True
        self._tick()
        if self._timer is None:
            self._timer = self.set_interval(0.5, self._tick)

    def hide(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.display = False

    def _tick(self) -> None:
        left = max(0.0, self._at - self._monotonic())
        when = f"in {duration(math.ceil(left))}" if left else "now"
        reason = one_line(self._reason).rstrip(".")
        self.update(
            Text(
                f"⟳ {reason}: trying again {when} · {self._key('interrupt')} interrupts",
                no_wrap=True,
                overflow="ellipsis",
            )
        )

"""The agent's plan above the prompt: a line, or all steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.widgets import Static

from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pinfold.rollout.acts import Step

STEP_SIGNS = {"done": "✓", "in_progress": "◐", "pending": "○"}
SHOWN = 10
"""Steps that are shown unfolded, from a few before the one that is being worked on."""
BEFORE = 3


class PlanLine(Static):
    """`Plan 2/5 · Ctrl+T unfolds · now: write the test`."""

    DEFAULT_CSS = """
    PlanLine {
        padding: 0 2;
        color: $foreground 60%;
    }
    """

    def __init__(self, key: Callable[[str], str]) -> None:
        """`key` names the key of an action."""
        super().__init__(markup=False)
        self._key = key("plan")
        self._steps: Sequence[Step] = ()
        self._unfolded = False
        self.display = False

    def show(self, steps: Sequence[Step]) -> None:
        """Show these steps; none hides it."""
        self._steps = steps
        self.display = bool(steps)
        if steps:
            self._draw()
        else:
            self._unfolded = False

    def toggle(self) -> bool:
        """Unfold or fold it; False where there is no plan."""
        if self._steps:
            self._unfolded = not self._unfolded
            self._draw()
        return bool(self._steps)

    def on_click(self) -> None:
        self.toggle()

    def _draw(self) -> None:
        steps = self._steps
        done = sum(step.status == "done" for step in steps)
        going = (at for status in ("in_progress", "pending") for at in _with(steps, status))
        now = next(going, None)
        does = f"{self._key} {'folds' if self._unfolded else 'unfolds'}"
        head = f"Plan {done}/{len(steps)} · {does}"
        if not self._unfolded:
            head += " · done" if now is None else f" · now: {one_line(steps[now].text)}"
        text = Text(head, no_wrap=True, overflow="ellipsis")
        if self._unfolded:
            first = max(0, min((now or 0) - BEFORE, len(steps) - SHOWN))
            for at, step in enumerate(steps[first : first + SHOWN], first):
                style = "bold" if at == now else ""
                text.append(f"\n{STEP_SIGNS[step.status]} {one_line(step.text)}", style)
            if more := len(steps) - min(len(steps), SHOWN):
                text.append(f"\n  {more} more")
        self.update(text)


def _with(steps: Sequence[Step], status: str) -> list[int]:
    return [at for at, step in enumerate(steps) if step.status == status]

"""Refreshes agents on the screen, a few times a second at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.timer import Timer
    from textual.widget import Widget

    from pinfold.agent.children.children import Children
    from pinfold.agent.children.status import ChildStatus

SOON = 0.2
"""Seconds for which changes are batched."""
TICK = 1.0
"""Seconds between two looks at running agents that report nothing: their time runs."""


class AgentTicker:
    def __init__(
        self,
        children: Children,
        widget: Widget,
        show: Callable[[Sequence[ChildStatus]], None],
    ) -> None:
        """`widget` has the timers; `show` gets those that may look different."""
        self._children = children
        self._widget = widget
        self._show = show
        self._changed: set[int] = set()
        self._timer: Timer | None = None
        self._soon = False

    def changed(self, number: int) -> None:
        """An agent's activity changed."""
        self._changed.add(number)
        if not self._soon:
            self._wait(SOON, soon=True)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.stop()

    def _wait(self, seconds: float, *, soon: bool) -> None:
        self.close()
        self._soon = soon
        self._timer = self._widget.set_timer(seconds, self._look)

    def _look(self) -> None:
        self._soon = False
        running = {child.number for child in self._children.running}
        numbers, self._changed = self._changed | running, set()
        found = (self._children.status(number) for number in sorted(numbers))
        self._show([status for status in found if status is not None])
        if running:
            self._wait(TICK, soon=False)

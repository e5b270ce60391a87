"""Hints in the status line, and keys that have to come twice."""

from collections.abc import Callable

from textual.timer import Timer

from pinfold.tui.status_line import StatusLine

SECONDS = 2.0
"""How long a hint is shown, and how soon its key must come again."""


class Hints:
    def __init__(self, status: StatusLine, monotonic: Callable[[], float]) -> None:
        self._status = status
        self._monotonic = monotonic
        self._shown_at = 0.0
        self._hiding: Timer | None = None

    def show(self, hint: str) -> None:
        """Show it for a while, in place of another."""
        self._status.hint = hint
        self._shown_at = self._monotonic()
        if self._hiding is not None:
            self._hiding.stop()
        self._hiding = self._status.set_timer(SECONDS, self.clear)

    def clear(self) -> None:
        self._status.hint = ""

    def is_shown(self, hint: str) -> bool:
        """Whether it was shown less than `SECONDS` ago, and no other since."""
        soon = self._monotonic() - self._shown_at <= SECONDS
        return soon and self._status.hint == hint

    def twice(self, hint: str) -> bool:
        """Whether the key that shows `hint` came again in time."""
        again = self.is_shown(hint)
        if again:
            self.clear()
        else:
            self.show(hint)
        return again

"""A panel that shows a session as it goes on."""

from collections.abc import Callable
from typing import Any

from textual.screen import Screen
from textual.timer import Timer

from pinfold.agent.updates import Appended, Update
from pinfold.commands.context import SessionPort
from pinfold.tui.failsafe import safely

REFRESH = 0.3
"""Seconds between two readings of a session that goes on."""


class Following:
    """Has a panel read its session again when something was journalled, until `stop`."""

    def __init__(
        self, panel: Screen[Any], session: SessionPort, read: Callable[[], object]
    ) -> None:
        self._panel = panel
        self._read = read
        self._timer: Timer | None = None
        self.stop = session.subscribe(safely(panel.app, self._hear))

    def _hear(self, update: Update) -> None:
        if isinstance(update, Appended) and self._timer is None:
            self._timer = self._panel.set_timer(REFRESH, self._due)

    def _due(self) -> None:
        self._timer = None
        self._read()

"""A screen to choose from what the index of all sessions has, which is brought up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from pinfold.tui.panels.chooser import Chooser

if TYPE_CHECKING:
    from pinfold.host.host import Host


class IndexChooser(Chooser):
    class Read(Message):
        """More can be searched; `left` sessions are still to be read."""

        def __init__(self, left: int) -> None:
            super().__init__()
            self.left = left

    def __init__(self, title: str, keys: str, host: Host) -> None:
        super().__init__(title, keys)
        self.host = host
        self.left = 0
        """Sessions that are still to be read."""

    async def index_changed(self) -> None:
        """All sessions are read."""

    def show_count(self) -> None:
        """Say what is listed, and how many sessions are left."""

    @work(thread=True)
    def fill(self) -> None:
        """Bring the index up to date."""
        worker = get_current_worker()
        for left in self.host.catalog.fill():
            if worker.is_cancelled:
                return
            if left > 0:
                self.post_message(self.Read(left))
        self.post_message(self.Read(0))

    @on(Read)
    async def _read_on(self, event: Read) -> None:
        self.left = event.left
        if event.left:
            self.show_count()
        else:
            await self.index_changed()

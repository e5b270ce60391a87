"""The windows that a session has had: to look into, compare, restore or fork from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.widget import Widget

from pinfold.commands.failures import told
from pinfold.commands.history import fork
from pinfold.commands.history_text import counts, fits
from pinfold.numbers import tokens
from pinfold.tui.panels.foot import Level
from pinfold.tui.panels.history_items import ItemsPanel, difference_lines, standing_lines
from pinfold.tui.panels.history_list import HistoryList, Past, pasts
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.lost import LostPanel
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.table_panel import TablePanel

if TYPE_CHECKING:
    from pinfold.agent.session import Session

KEYS = [
    *moves("history"),
    *keys(
        "history",
        ("enter", "items", "Show its items", "items"),
        ("d", "diff", "Mark it, then compare another with it", "diff"),
        ("l", "lost", "Show what it lost, and restore it", "losses"),
        ("r", "restore", "Restore it, with everything since", "restore"),
        ("f", "fork", "Fork from it", "fork"),
        ("z", "undo", "Undo", "undo"),
        ("escape,q", "leave", "Clear the mark, then close"),
    ),
]
SETTLED = 0.05
"""Seconds without a key after which the effect of a restore is worked out."""


class HistoryPanel(TablePanel[int | None]):
    """Its result is the window to fork from."""

    HEADING = "Windows of this session"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, session: Session) -> None:
        self._list: HistoryList = HistoryList()
        super().__init__(self._list, session)
        self._session = session
        self._window = session.window
        self._asked: int | None = None
        """The window that does not fit the model, and is restored if asked for once more."""

    def parts(self) -> Iterable[Widget]:
        return self._list, self._foot

    # What is shown

    def read(self) -> None:
        self._list.show_pasts(pasts(self._window.generations, self._window.boundaries))

    @on(Table.Moved)
    def _moved(self) -> None:
        self._asked = None
        if (past := self._list.row) is not None:
            self._foot.show(past.name, past.why, past.since)
            self._work_out(past)

    @work(exclusive=True, group="effect")
    async def _work_out(self, past: Past) -> None:
        """Show what restoring the window would result in."""
        await asyncio.sleep(SETTLED)
        if past.now:
            return
        try:
            outlook = await self._window.outlook(past.number)
        except Exception as error:  # the panel stays, whatever it is
            effect = f"It can't be restored: {told(error)}"
            self._foot.show(past.name, past.why, past.since, effect=effect)
            return
        reading = self._session.reading()
        sizes = f"{tokens(outlook.before)} → {tokens(outlook.after)} of {tokens(reading.limit)}"
        over = outlook.after - reading.usable
        fit = f", ! {tokens(over)} more than fit" if over > 0 else ""
        effect = f"Restored, with everything since: {outlook.items:,} items, {sizes} tokens{fit}"
        self._foot.show(past.name, past.why, past.since, effect=effect)

    # Keys

    @on(Table.Taken)
    def action_items(self) -> None:
        if (past := self._list.row) is not None:
            items = self._window.standing(past.number)
            facts = " · ".join((past.why, past.since, past.items))
            lines = list(standing_lines(items))
            self.app.push_screen(ItemsPanel(past.name.capitalize(), facts, lines, self._window))

    def action_diff(self) -> None:
        past, marked = self._list.row, self._list.marked
        if past is None:
            return
        if marked is None:
            self._list.mark(past.number)
            self._foot.say(f"Marked window {past.number}: d on another compares the two.")
        elif marked == past.number:
            self._list.mark(None)
            self._foot.say("")
        else:
            older, newer = sorted((marked, past.number))
            found = self._window.differences(older, newer)
            title = f"From window {older} to window {newer}"
            lines = list(difference_lines(found))
            self.app.push_screen(ItemsPanel(title, counts(found), lines, self._window))

    def action_lost(self) -> None:
        past = self._list.row
        if past is not None and past.number:
            self.app.push_screen(LostPanel(self._session, past.number))
        elif past is not None:
            self._foot.say("The first window replaced no other: nothing was lost.", "warning")

    async def action_restore(self) -> None:
        if (past := self._list.row) is None:
            return
        with self.telling():
            reading = self._session.reading()
            if not past.now and self._asked != past.number:
                outlook = await self._window.outlook(past.number)
                if outlook.after > reading.usable:
                    self._asked = past.number
                    self._foot.say(
                        f"With everything since, it takes {tokens(outlook.after)} of "
                        f"{tokens(reading.limit)} tokens, more than fit: "
                        f"{self.key_of('history.restore')} again restores it.",
                        "warning",
                    )
                    return
            self._asked = None
            said = await self._window.restore(past.number)
            reading = self._session.reading()
            level: Level = "warning" if reading.used > reading.usable else "info"
            self._foot.say(
                f"{said} {fits(reading)} {self.key_of('history.undo')} undoes it.", level
            )
            self.read()

    async def action_undo(self) -> None:
        with self.telling():
            what = await self._window.undo()
            self._foot.say(f"Undone: {what}.")
            self.read()

    def action_fork(self) -> None:
        if self._session.phase != "idle":
            self._foot.say("A turn is running: press Esc first, or wait until it ends.", "warning")
        elif (past := self._list.row) is not None:
            self.dismiss(past.number)

    def action_leave(self) -> None:
        if self._list.marked is not None:
            self._list.mark(None)
            self._foot.say("")
        else:
            self.dismiss(None)


async def _open(host: PanelHost, _: str) -> None:
    chosen = await host.push_screen_wait(HistoryPanel(host.session))
    if chosen is not None:
        await fork(host, chosen)


PANEL = Panel("Among earlier windows (/history)", KEYS, _open)

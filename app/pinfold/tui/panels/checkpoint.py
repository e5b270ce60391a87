"""The checkpoint panel: what pinfold remembers of the session, with the source of each line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType

from pinfold.commands.history import DIGEST
from pinfold.rollout import provenance
from pinfold.tui.panels.checkpoint_list import CheckpointList
from pinfold.tui.panels.checkpoint_rows import KeptRow, chosen, facts, rows_of
from pinfold.tui.panels.item import ItemPanel, item_panel
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Heading, Table
from pinfold.tui.panels.table_panel import FilterPanel

if TYPE_CHECKING:
    from pinfold.agent.compaction.remembered import SessionMemory
    from pinfold.agent.session import Session

KEYS = [
    *moves("checkpoint"),
    *keys(
        "checkpoint",
        ("enter", "open", "Open the item it comes from", "item"),
        ("slash", "filter", "Filter", "filter"),
        ("c", "copy", "Copy", "copy"),
        ("escape,q", "back", "Clear the filter, then close"),
    ),
]


class CheckpointPanel(FilterPanel[None]):
    """Updates with each event, also during a turn."""

    HEADING = "Checkpoint"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, session: Session) -> None:
        self._list: CheckpointList = CheckpointList()
        super().__init__(self._list, session, "words, #12")
        self._session = session
        self._window = session.window
        self._rows: Sequence[KeptRow | Heading] = ()

    # What is shown

    @work(exclusive=True, group="read")
    async def read(self) -> None:
        with self.telling():
            self._show(await self._session.compaction.remembered(DIGEST))

    def _show(self, kept: SessionMemory) -> None:
        self._facts.update(" · ".join(facts(kept)))
        first = provenance.request(self._session.items)
        goal = self._window.goal
        asked = first.n if first is not None and provenance.words(first) == goal else None
        self._rows = rows_of(kept, goal, asked)
        self._list.show_rows(chosen(self._rows, self._filter.value))

    @on(Table.Moved)
    def _moved(self) -> None:
        row = self._list.row
        if row is None:
            self._foot.show("", "Nothing matches this filter." if self._filter.value else "")
        else:
            known = f"from #{row.item}" if row.item is not None else ""
            self._foot.show(row.text.strip(), row.note, known)

    # Keys

    @on(Table.Taken)
    def action_open(self) -> None:
        row = self._list.row
        if row is None:
            return
        item = None if row.item is None else self._window.item(row.item)
        if item is None:
            self.app.push_screen(ItemPanel("Full text", "\n".join((row.text.strip(), row.note))))
        else:
            self.app.push_screen(item_panel(item, self._window))

    def action_copy(self) -> None:
        if (row := self._list.row) is not None:
            text = " ".join((row.text.strip(), row.note)).strip()
            self.app.copy_to_clipboard(text)
            self._foot.say(f"Copied: {len(text):,} characters.")

    def narrow(self) -> None:
        self._list.show_rows(chosen(self._rows, self._filter.value), top=True)


PANEL = Panel(
    "In the checkpoint panel (/checkpoint)", KEYS, lambda host, _: CheckpointPanel(host.session)
)

"""The checkpoint panel: what the host keeps in mind, and what each line of it is known from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from pinfold.commands.context import SessionPort
from pinfold.commands.failures import told
from pinfold.commands.history import DIGEST
from pinfold.rollout import provenance
from pinfold.tui.panels.checkpoint_list import CheckpointList
from pinfold.tui.panels.checkpoint_rows import KeptRow, chosen, facts, rows_of
from pinfold.tui.panels.context import Filter
from pinfold.tui.panels.following import Following
from pinfold.tui.panels.foot import Foot
from pinfold.tui.panels.item import ItemPanel, page, title
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.list_panel import ListPanel
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table

if TYPE_CHECKING:
    from pinfold.agent.memory import Remembered

HINT = "↑ ↓ choose · Esc leaves"
KEYS = [
    *moves("checkpoint"),
    *keys(
        "checkpoint",
        ("enter", "open", "The item that it stands on", "item"),
        ("slash", "filter", "Filter", "filter"),
        ("c", "copy", "Copy", "copy"),
        ("escape,q", "back", "Drop the filter, then leave"),
    ),
]
SIDE = 120
"""Columns from which the transcript stays in view beside it."""


class CheckpointPanel(ListPanel[None]):
    """Follows the session, also while a turn runs."""

    CSS_PATH = "panels.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, session: SessionPort) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-wide"), (SIDE, "-side")]
        self._session = session
        self._window = session.window
        self._rows: Sequence[KeptRow] = ()
        self._facts = Static("Reading the session…", classes="facts", markup=False)
        self._filter = Filter(placeholder="words, #12", compact=True)
        self._list: CheckpointList = CheckpointList()
        self._foot = Foot()

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel side") as panel:
            panel.border_title = "Checkpoint"
            panel.border_subtitle = HINT
            yield self._facts
            yield self._filter
            yield self._list
            yield self._foot

    def on_mount(self) -> None:
        self._filter.display = False
        self._following = Following(self, self._session, self._read)
        self._read()

    def on_unmount(self) -> None:
        self._following.stop()

    # What is shown

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        try:
            kept = await self._session.compaction.remembered(DIGEST)
        except Exception as error:  # the panel stays, whatever it is
            self._foot.say(told(error), "error")
            return
        self._show(kept)

    def _show(self, kept: "Remembered") -> None:
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
            self._foot.show("", "Nothing fits this filter." if self._filter.value else "")
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
            self.app.push_screen(ItemPanel("In full", "\n".join((row.text.strip(), row.note))))
            return
        partner = self._window.partner(item.n)
        other = None if partner is None else self._window.item(partner)
        both = [item] if other is None else sorted([item, other], key=lambda each: each.n)
        self.app.push_screen(ItemPanel(title(item), page(both)))

    def action_copy(self) -> None:
        if (row := self._list.row) is not None:
            text = " ".join((row.text.strip(), row.note)).strip()
            self.app.copy_to_clipboard(text)
            self._foot.say(f"Copied: {len(text):,} characters.")

    # The filter

    def action_filter(self) -> None:
        self._filter.display = True
        self._filter.focus()

    @on(Input.Changed)
    def _narrow(self) -> None:
        self._list.show_rows(chosen(self._rows, self._filter.value), top=True)

    @on(Input.Submitted)
    def action_to_table(self) -> None:
        self._filter.display = bool(self._filter.value)
        self.set_focus(None)

    def action_drop_filter(self) -> None:
        self._filter.value = ""
        self.action_to_table()

    def action_back(self) -> None:
        if self._filter.value:
            self.action_drop_filter()
        else:
            self.dismiss(None)


PANEL = Panel(
    "In the checkpoint panel (/checkpoint)", KEYS, lambda host, _: CheckpointPanel(host.session)
)

"""The context panel: what the model sees, item by item, and what to do about it."""

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Input, Static

from pinfold.agent.updates import Appended, Update
from pinfold.commands.context import SessionPort
from pinfold.commands.context_text import facts
from pinfold.commands.failures import told
from pinfold.rollout.events import Pin
from pinfold.rollout.items import Item
from pinfold.tui.failsafe import safely
from pinfold.tui.gauge import GaugeBar
from pinfold.tui.panels.context_effects import NAMES, done
from pinfold.tui.panels.context_footer import Footer
from pinfold.tui.panels.context_rows import SORTS, AnyRow, Sort, arrange, chosen
from pinfold.tui.panels.context_table import MOVES, ContextTable, Titles
from pinfold.tui.panels.item import ItemPanel, context_page, context_title, page, title
from pinfold.tui.panels.keys import keys, own_keys
from pinfold.tui.panels.modal import Modal
from pinfold.tui.panels.registry import Panel
from pinfold.window.actions import Act, Effect
from pinfold.window.overview import Overview, Row
from pinfold.window.pins import named

HINT = "s sort · / filter · space v a select · z undo · Enter read · Esc leave"
SETTLED = 0.05
"""Seconds without a key after which effects are worked out: thousands of items take a while."""
REFRESH = 0.2
"""Seconds between two readings of a window that changes."""
_NAMED = re.compile(r"\A#[^:;]*: (?!.*; #)")
FIXED = "It comes with every request: it can't be folded or pinned."
MEMORIES = "f folds what earlier sessions learned, o unfolds it; it can't be pinned."


ACTS = keys(
    "context",
    ("p", "act('pin')", "Pin"),
    ("u", "act('unpin')", "Unpin"),
    ("m", "act('mask')", "Mask"),
    ("f", "act('fold')", "Fold"),
    ("o", "act('unfold')", "Unfold: open again what is masked or folded"),
    ("z", "undo", "Undo"),
    ("w", "forget_window", "Forget the window that refused requests taught"),
    ("c", "copy", "Copy"),
    ("s", "sort", "Sort by order, size, age, kind"),
    ("slash", "filter", "Filter: words, a kind or tool, pinned, masked, folded, #12, src/**"),
    ("escape", "back", "Drop the selection, then the filter, then leave"),
)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Filter(Input):
    """Narrows as one types."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "screen.to_table", show=False),
        Binding("escape", "screen.drop_filter", show=False),
    ]


class ContextPanel(Modal[None]):
    """Reads the window anew with each event."""

    CSS_PATH = "panels.tcss"
    AUTO_FOCUS = "ContextTable"
    BINDINGS: ClassVar[list[BindingType]] = [*ACTS]

    def __init__(
        self,
        session: SessionPort,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-wide")]
        self._session = session
        self._window = session.window
        # Read here, not when it is mounted: all that follows on that keeps keys waiting as well.
        self._overview: Overview = session.window.overview()
        self._sort: Sort = "order"
        self._refreshing: Timer | None = None
        self._gauge = GaugeBar()
        self._facts = Static(classes="facts", markup=False)
        self._filter = Filter(
            placeholder="words, user, shell, pinned, masked, folded, #12, src/**", compact=True
        )
        self._table = ContextTable(now)
        self._titles = Titles(self._table)
        self._footer = Footer()

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel full") as panel:
            panel.border_title = "Context"
            panel.border_subtitle = HINT
            yield self._gauge
            yield self._facts
            yield self._filter
            yield self._titles
            yield self._table
            yield self._footer

    def on_mount(self) -> None:
        self._filter.display = False
        self._unsubscribe = self._session.subscribe(safely(self.app, self._hear))
        self._show()

    def on_unmount(self) -> None:
        self._unsubscribe()

    # What is shown

    def _hear(self, update: Update) -> None:
        if isinstance(update, Appended) and self._refreshing is None:
            self._refreshing = self.set_timer(REFRESH, self._read)

    def _read(self) -> None:
        if self._refreshing is not None:
            self._refreshing.stop()
            self._refreshing = None
        self._overview = self._window.overview()
        self._show()

    def _show(self, *, top: bool = False) -> None:
        overview = self._overview
        self._gauge.model = self._session.model
        self._gauge.auto = self._session.auto
        self._gauge.reading = overview.reading
        rows = chosen((*overview.context, *overview.rows), self._filter.value, self._text)
        said = facts(overview)
        if overview.reading.window_source == "learned":
            said[0] += f" ({own_keys(self)['context.forget_window']} forgets it)"
        if self._filter.value:
            said.insert(0, f"{len(rows):,} fit “{self._filter.value.strip()}”")
        self._facts.update(
            Text(
                " · ".join(said),
            )
        )
        self._titles.sort = self._sort
        self._table.show_rows(arrange(rows, self._sort), {row.n for row in overview.rows}, top=top)

    def _text(self, row: AnyRow) -> str:
        """All that the model sees of an item; what is folded may have to be read from the disk."""
        if not isinstance(row, Row) or row.form != "full":
            return ""
        item = self._window.item(row.n)
        return item.content if item is not None else ""

    # The selection

    def _targets(self) -> list[Row]:
        """The selected items, else the one under the cursor."""
        selected = self._table.selected
        if selected:
            return [row for row in self._overview.rows if row.n in selected]
        current = self._table.row
        return [current] if isinstance(current, Row) else []

    @on(ContextTable.Moved)
    def _moved(self) -> None:
        selected = self._table.selected
        tokens = sum(row.tokens for row in self._targets()) if selected else 0
        shown = {row.n for row in self._table.lines if isinstance(row, Row)} if selected else set()
        self._footer.show(self._table.row, len(selected), tokens, len(selected - shown))
        self._work_out()

    @work(exclusive=True, group="effects")
    async def _work_out(self) -> None:
        await asyncio.sleep(SETTLED)
        targets = self._targets()
        effects: dict[Act, Effect | str] = {}
        for act in NAMES if targets else ():
            effects[act] = self._effect(act, targets)
            await asyncio.sleep(0)  # a key may come between
        self._footer.work_out(effects)
        if not targets and self._table.lines:
            self._footer.can_not(MEMORIES if self._on_memories else FIXED)

    @property
    def _on_memories(self) -> bool:
        row = self._table.row
        return row is not None and not isinstance(row, Row) and row.part == "memories"

    def _effect(self, act: Act, targets: list[Row]) -> Effect | str:
        try:
            return self._window.effect(act, _pins(act, targets))
        except Exception as error:  # the panel stays, whatever it is
            # Where one reason stands for all, the line above has named them.
            return _NAMED.sub("", told(error)).rstrip(".")

    # Keys

    async def action_act(self, act: Act) -> None:
        targets = self._targets()
        if not targets and self._on_memories and act in ("fold", "unfold"):
            await self._fold_memories(folded=act == "fold")
            return
        if not targets:
            self._footer.say(MEMORIES if self._on_memories else FIXED, "warning")
            return
        self._table.end_range()
        try:
            effect = await self._window.act(act, _pins(act, targets))
        except Exception as error:  # the panel stays, whatever it is
            self._footer.say(told(error), "error")
            return
        self._read()
        busy = self._session.phase != "idle"
        said = done(effect, _changed(act, targets, effect), busy=busy)
        if effect.warning:
            self._footer.say(f"{said} {effect.warning}", "warning")
        else:
            self._footer.say(said)

    async def _fold_memories(self, *, folded: bool) -> None:
        try:
            said = await self._window.fold_memories(folded=folded)
        except Exception as error:  # the panel stays, whatever it is
            self._footer.say(told(error), "error")
            return
        self._read()
        self._footer.say(said)

    async def action_undo(self) -> None:
        try:
            what = await self._window.undo()
        except Exception as error:  # the panel stays, whatever it is
            self._footer.say(told(error), "error")
            return
        self._read()
        self._footer.say(f"Undone: {what}.")

    async def action_forget_window(self) -> None:
        try:
            said = await self._session.forget_window()
        except Exception as error:  # the panel stays, whatever it is
            self._footer.say(told(error), "error")
            return
        self._read()
        self._footer.say(said)

    def action_copy(self) -> None:
        current = self._table.row
        targets = self._targets()
        items = [item for row in targets if (item := self._window.item(row.n)) is not None]
        if items:
            text = "\n\n".join(page([item]) for item in items)
        elif current is not None and not isinstance(current, Row):
            text = context_page(current, self._window.context)
        else:
            return
        self.app.copy_to_clipboard(text)
        what = f"{len(items):,} items" if len(items) > 1 else "it"
        self._footer.say(f"Copied {what}: {len(text):,} characters.")

    @on(ContextTable.Taken)
    def _open(self, event: ContextTable.Taken) -> None:
        row = self._table.rows[event.key]
        if not isinstance(row, Row):
            text = context_page(row, self._window.context)
            self.app.push_screen(ItemPanel(context_title(row), text))
            return
        item = self._window.item(row.n)
        if item is not None:
            self.app.push_screen(ItemPanel(title(item), page(self._pair(item))))

    def _pair(self, item: Item) -> list[Item]:
        partner = self._window.partner(item.n)
        other = None if partner is None else self._window.item(partner)
        return [item] if other is None else sorted([item, other], key=lambda each: each.n)

    def action_sort(self) -> None:
        self._sort_by(SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)])

    @on(Titles.Clicked)
    def _title_clicked(self, event: Titles.Clicked) -> None:
        self._sort_by(event.sort)

    def _sort_by(self, sort: Sort) -> None:
        self._sort = sort
        self._show(top=sort != "order")

    # The filter

    def action_filter(self) -> None:
        self._filter.display = True
        self._filter.focus()

    @on(Input.Changed)
    def _narrow(self) -> None:
        self._show()

    @on(Input.Submitted)
    def action_to_table(self) -> None:
        self._filter.display = bool(self._filter.value)
        self._table.focus()

    def action_drop_filter(self) -> None:
        self._filter.value = ""
        self.action_to_table()

    def action_back(self) -> None:
        if self._table.selected or self._table.ranging:
            self._table.clear()
            self._footer.say("")
        elif self._filter.value:
            self.action_drop_filter()
        else:
            self.dismiss(None)


def _pins(act: Act, targets: list[Row]) -> list[Pin]:
    """What `act` is about: to unpin, what holds the items, be it on their files."""
    if act != "unpin":
        return [row.n for row in targets]
    return list(dict.fromkeys(row.n if row.pin is None else row.pin for row in targets))


def _changed(act: Act, targets: list[Row], effect: Effect) -> str:
    """The pins that came or went, or the items that look otherwise now."""
    return named(_pins(act, targets) if act in ("pin", "unpin") else effect.numbers)


PANEL = Panel(
    "In the context panel (/context)", [*MOVES, *ACTS], lambda host, _: ContextPanel(host.session)
)

"""The context panel: what the model sees, item by item, and what to do about it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, get_args

from rich.text import Text
from textual import on, work
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Static

from pinfold.commands.context_text import facts
from pinfold.commands.failures import told
from pinfold.commands.model import price_said
from pinfold.rollout.events import Pin
from pinfold.tui.gauge import GaugeBar, shown_auto
from pinfold.tui.panels.context_effects import done
from pinfold.tui.panels.context_footer import Footer
from pinfold.tui.panels.context_rows import (
    SORTS,
    AnyRow,
    FixedRow,
    Sort,
    arrange,
    chosen,
    fixed,
    key,
)
from pinfold.tui.panels.context_servers import SERVERS, ServerFolds
from pinfold.tui.panels.context_table import MOVES, ContextTable, Titles
from pinfold.tui.panels.item import ItemPanel, context_page, context_title, item_panel, page
from pinfold.tui.panels.keys import keys, own_keys
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table_panel import FilterPanel
from pinfold.window.actions import Act, Effect
from pinfold.window.overview import ContextRow, ItemRow, Overview
from pinfold.window.pins import named

if TYPE_CHECKING:
    from pinfold.agent.session import Session

FRAME = 10
"""Columns that the frame and its margins take."""
SETTLED = 0.05
"""Seconds without a key after which effects are worked out: thousands of items take a while."""
_NAMED = re.compile(r"\A#[^:;]*: (?!.*; #)")
FIXED = "Sent with every request: it can't be folded or pinned."
MEMORIES = "f folds what earlier sessions learned, o unfolds it; it can't be pinned."


ACTS = keys(
    "context",
    ("p", "act('pin')", "Pin"),
    ("u", "act('unpin')", "Unpin"),
    ("m", "act('mask')", "Mask"),
    ("f", "act('fold')", "Fold"),
    ("o", "act('unfold')", "Restore what is masked or folded"),
    ("z", "undo", "Undo"),
    ("w", "forget_window", "Forget the window size learned from refused requests"),
    ("c", "copy", "Copy"),
    ("s", "sort", "Sort by size, age, kind, order"),
    ("x", "fixed", "Open or close instructions and tools"),
    ("slash", "filter", "Filter: words, a kind or tool, pinned, masked, folded, #12, src/**"),
    ("escape", "back", "Clear the selection, then the filter, then close"),
)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class ContextPanel(FilterPanel[None]):
    """Reads the window again with each event."""

    AUTO_FOCUS = "ContextTable"
    HEADING = "Context"
    HINT = "s sort · / filter · space v a select · z undo · Enter reads · Esc closes"
    SHAPE = "full"
    REFRESH = 0.2
    BINDINGS: ClassVar[list[BindingType]] = [*ACTS]

    def __init__(
        self,
        session: Session,
        now: Callable[[], datetime] = _utc_now,
        sort: Sort = "size",
        *,
        opened: bool = False,
    ) -> None:
        """`opened` lists the fixed part row by row."""
        self._list: ContextTable = ContextTable(now)
        super().__init__(
            self._list, session, "words, user, shell, pinned, masked, folded, #12, src/**"
        )
        self._session = session
        self._window = session.window
        # Not on mount: keys wait until that has been handled.
        self._overview: Overview = session.window.overview()
        self._sort: Sort = sort
        self._opened = opened
        self._places: dict[str, int] = {}
        """Where each row is in the list of all."""
        self._folds = ServerFolds(session)
        self._legend = Static(classes="legend", markup=False)
        self._gauge = GaugeBar()
        self._titles = Titles(self._list)
        self._foot: Footer = Footer()

    def parts(self) -> Iterable[Widget]:
        return (
            self._gauge,
            self._legend,
            self._facts,
            self._filter,
            self._titles,
            self._list,
            self._foot,
        )

    def begin(self) -> None:
        self._arrange()
        self.narrow()
        if self._list.lines and isinstance(self._list.lines[0], FixedRow):
            self._list.go(1)

    # What is shown

    def on_resize(self) -> None:
        self._legend.update(self._gauge.legend(self.app.size.width - FRAME))

    def read(self) -> None:
        """Read again; rows keep their places until the user sorts, or the window is replaced."""
        before, self._overview = self._overview, self._window.overview()
        if self._sort != "size" or before.generation != self._overview.generation:
            self._arrange()
        self.narrow()

    def _arrange(self) -> None:
        rows = arrange((*self._overview.context, *self._overview.rows), self._sort)
        self._places = {key(row): place for place, row in enumerate(rows)}

    def _place(self, row: AnyRow) -> int:
        """What has come since goes last."""
        return self._places.get(key(row), -1 if isinstance(row, FixedRow) else len(self._places))

    def narrow(self) -> None:
        self._show()

    def _show(self, *, top: bool = False) -> None:
        overview = self._overview
        self._gauge.model = self._session.model
        self._gauge.auto = shown_auto(self._session)
        self._gauge.reading = overview.reading
        self._legend.update(self._gauge.legend(self.app.size.width - FRAME))
        front: Sequence[ContextRow] = overview.context
        if front and not (self._opened or self._filter.value):
            front = [fixed(front)]
        rows = chosen((*front, *overview.rows), self._filter.value, self._text)
        said = facts(overview)
        if overview.reading.window_source == "learned":
            said[0] += f" ({own_keys(self)['context.forget_window']} forgets it)"
        if price := self._session.choice.price:
            said.append(price_said(price))
        if self._filter.value:
            said.insert(0, f"{len(rows):,} match “{self._filter.value.strip()}”")
        self._facts.update(Text(" · ".join(said)))
        self._titles.sort = self._sort
        rows = sorted(arrange(rows, self._sort), key=self._place)
        self._list.show_rows(rows, {row.n for row in overview.rows}, top=top)

    def _text(self, row: AnyRow) -> str:
        """All that the model sees of an item; what is folded may have to be read from the disk."""
        if not isinstance(row, ItemRow) or row.form != "full":
            return ""
        item = self._window.item(row.n)
        return item.content if item is not None else ""

    # The selection

    def _targets(self) -> list[ItemRow]:
        """The selected items, else the one under the cursor."""
        selected = self._list.selected
        if selected:
            return [row for row in self._overview.rows if row.n in selected]
        current = self._list.row
        return [current] if isinstance(current, ItemRow) else []

    @on(ContextTable.Moved)
    def _moved(self) -> None:
        self._folds.moved(self._list.row)
        selected = self._list.selected
        tokens = sum(row.tokens for row in self._targets()) if selected else 0
        shown = (
            {row.n for row in self._list.lines if isinstance(row, ItemRow)} if selected else set()
        )
        self._foot.show_row(self._list.row, len(selected), tokens, len(selected - shown))
        self._work_out()

    @work(exclusive=True, group="effects")
    async def _work_out(self) -> None:
        await asyncio.sleep(SETTLED)
        targets = self._targets()
        effects: dict[Act, Effect | str] = {}
        for act in get_args(Act) if targets else ():
            effects[act] = self._effect(act, targets)
            await asyncio.sleep(0)  # a key may come between
        self._foot.work_out(effects)
        if not targets and self._list.lines:
            self._foot.can_not(self._fixed_said)

    @property
    def _on_memories(self) -> bool:
        row = self._list.row
        return row is not None and not isinstance(row, ItemRow) and row.part == "memories"

    @property
    def _fixed_said(self) -> str:
        """What can be done to a row of the fixed part."""
        if self._folds.place(self._list.row):
            return SERVERS
        return MEMORIES if self._on_memories else FIXED

    def _effect(self, act: Act, targets: list[ItemRow]) -> Effect | str:
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
            row = self._list.row
            if isinstance(row, ContextRow) and act in ("fold", "unfold") and self._folds.place(row):
                await self._fold_server(row, folded=act == "fold" and not row.folded)
            else:
                self._foot.say(self._fixed_said, "warning")
            return
        self._list.end_range()
        with self.telling():
            effect = await self._window.act(act, _pins(act, targets))
            self.read_now()
            busy = self._session.phase != "idle"
            undo = self.key_of("context.undo")
            said = done(effect, _changed(act, targets, effect), undo, busy=busy)
            if effect.warning:
                self._foot.say(f"{said} {effect.warning}", "warning")
            else:
                self._foot.say(said)

    async def _fold_memories(self, *, folded: bool) -> None:
        with self.telling():
            said = await self._window.fold_memories(folded=folded)
            self.read_now()
            self._foot.say(said)

    async def _fold_server(self, row: ContextRow, *, folded: bool) -> None:
        with self.telling():
            fold = self.key_of("context.fold")
            said = await self._folds.press(row, folded=folded, key=fold)
            self.read_now()
            self._foot.say(said)

    async def action_undo(self) -> None:
        with self.telling():
            what = await self._window.undo()
            self.read_now()
            self._foot.say(f"Undone: {what}.")

    async def action_forget_window(self) -> None:
        with self.telling():
            said = await self._session.forget_window()
            self.read_now()
            self._foot.say(said)

    def action_copy(self) -> None:
        current = self._list.row
        targets = self._targets()
        items = [item for row in targets if (item := self._window.item(row.n)) is not None]
        if items:
            text = "\n\n".join(page([item]) for item in items)
        elif isinstance(current, ContextRow) and not isinstance(current, FixedRow):
            text = context_page(current, self._window.context)
        else:
            return
        self.app.copy_to_clipboard(text)
        what = f"{len(items):,} items" if len(items) > 1 else "it"
        self._foot.say(f"Copied {what}: {len(text):,} characters.")

    @on(ContextTable.Taken)
    def _open(self) -> None:
        row = self._list.row
        if isinstance(row, FixedRow):
            self.action_fixed()
        elif isinstance(row, ContextRow):
            text = context_page(row, self._window.context)
            self.app.push_screen(ItemPanel(context_title(row), text))
        elif row is not None and (item := self._window.item(row.n)) is not None:
            self.app.push_screen(item_panel(item, self._window))

    def action_fixed(self) -> None:
        self._opened = not self._opened
        self._show()

    def action_sort(self) -> None:
        self._sort_by(SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)])

    @on(Titles.Clicked)
    def _title_clicked(self, event: Titles.Clicked) -> None:
        self._sort_by(event.sort)

    def _sort_by(self, sort: Sort) -> None:
        self._sort = sort
        self._foot.say("")
        self._arrange()
        self._show(top=sort != "order")

    def action_back(self) -> None:
        if self._list.selected or self._list.ranging:
            self._list.clear()
            self._foot.say("")
        else:
            super().action_back()


def _pins(act: Act, targets: list[ItemRow]) -> list[Pin]:
    """What `act` takes: the items; to unpin, the pins that hold them, also those on files."""
    if act != "unpin":
        return [row.n for row in targets]
    return list(dict.fromkeys(row.n if row.pin is None else row.pin for row in targets))


def _changed(act: Act, targets: list[ItemRow], effect: Effect) -> str:
    """Names of the pins or items that changed."""
    return named(_pins(act, targets) if act in ("pin", "unpin") else effect.numbers)


PANEL = Panel(
    "In the context panel (/context)", [*MOVES, *ACTS], lambda host, _: ContextPanel(host.session)
)

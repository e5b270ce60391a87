"""What panels around a table have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ScreenResultType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from pinfold.agent.updates import Appended, Update
from pinfold.commands.failures import told
from pinfold.tui.failsafe import safely
from pinfold.tui.in_order import SearchInput
from pinfold.tui.panels.foot import Foot
from pinfold.tui.panels.keys import own_keys
from pinfold.tui.panels.modal import Modal
from pinfold.tui.panels.table import Table

if TYPE_CHECKING:
    from pinfold.agent.session import Session

SIDE = 150
"""Columns from which the transcript stays visible beside a panel."""
SHARE = 0.6
"""Share of the columns that a panel beside the transcript takes."""


class TablePanel(Modal[ScreenResultType]):
    """Facts, a table, a foot; with a session it reads that again after each event.

    Its keys are those of `keys.moves` and its own.
    """

    AUTO_FOCUS = ""
    HEADING: str
    HINT: str = "↑ ↓ choose · Esc closes"
    SHAPE: ClassVar[str] = "side"
    """The class of its frame."""
    REFRESH: ClassVar[float] = 0.3
    """Seconds between two readings of a session that continues."""

    _list: Table[Any]
    _foot: Foot

    def __init__(
        self,
        table: Table[Any],
        session: Session | None = None,
        facts: str = "Reading the session…",
    ) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-wide"), (SIDE, "-side")]
        self._followed = session
        self._timer: Timer | None = None
        self._facts = Static(facts, classes="facts", markup=False)
        self._list = table
        self._foot = Foot()

    def compose(self) -> ComposeResult:
        with Vertical(classes=f"panel {self.SHAPE}") as panel:
            panel.border_title = self.HEADING
            panel.border_subtitle = self.HINT
            yield from self.parts()

    def parts(self) -> Iterable[Widget]:
        """What it shows, from the top."""
        return self._facts, self._list, self._foot

    def on_mount(self) -> None:
        if self._followed is not None:
            self._unsubscribe = self._followed.subscribe(safely(self.app, self.hear))
        self.begin()

    def on_unmount(self) -> None:
        self._make_room(gone=True)
        if self._followed is not None:
            self._unsubscribe()

    def on_resize(self) -> None:
        self._make_room()

    @property
    def _docks(self) -> bool:
        wide = self.app.size.width >= SIDE
        return self.SHAPE == "side" and wide and not self.has_class("-empty")

    @property
    def is_narrowed(self) -> bool:
        """Whether rows are hidden that could be shown."""
        return False

    @on(Table.Moved)
    def _shrink(self) -> None:
        """Without rows it is a small box."""
        empty = self.SHAPE == "side" and not self._list.lines and not self.is_narrowed
        if empty != self.has_class("-empty"):
            self.set_class(empty, "-empty")
            self._make_room()

    def _make_room(self, *, gone: bool = False) -> None:
        """Narrow the shell to the columns left of the panel, so nothing is cut off."""
        shell, *above = self.app.screen_stack
        width = round(self.app.size.width * SHARE)
        if self.SHAPE == "side" and not gone:
            self.query_one(".side").styles.width = width if self._docks else None
        docked = (
            screen
            for screen in above
            if isinstance(screen, TablePanel) and screen._docks and not (gone and screen is self)
        )
        shell.styles.padding = (0, width if any(docked) else 0, 0, 0)

    def begin(self) -> None:
        """Show what there is as it opens."""
        self.read()

    def read(self) -> object:
        """Read what is shown, and show it."""

    def hear(self, update: Update) -> None:
        if isinstance(update, Appended):
            self.read_soon()

    def read_soon(self) -> None:
        if self._timer is None:
            self._timer = self.set_timer(self.REFRESH, self.read_now)

    def read_now(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.read()

    def key_of(self, action: str) -> str:
        """The key of an action of the panel, as the user has it."""
        return own_keys(self).get(action, "")

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Show any failure within at the foot; the panel stays."""
        try:
            yield
        except Exception as error:
            self._foot.say(told(error), "error")

    def action_move(self, step: int) -> None:
        self._list.move(step)

    def action_page(self, way: int) -> None:
        self._list.page(way)

    def action_edge(self, way: int) -> None:
        self._list.edge(way)

    def action_leave(self) -> object:
        return self.dismiss(None)


class Filter(SearchInput):
    """Narrows as one types."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "screen.to_table", show=False),
        Binding("escape", "screen.drop_filter", show=False),
    ]


class FilterPanel(TablePanel[ScreenResultType]):
    """Its rows can be narrowed."""

    def __init__(self, table: Table[Any], session: Session, placeholder: str) -> None:
        super().__init__(table, session)
        self._filter = Filter(placeholder=placeholder, compact=True)
        self._filter.display = False

    def parts(self) -> Iterable[Widget]:
        return self._facts, self._filter, self._list, self._foot

    @property
    def is_narrowed(self) -> bool:
        return bool(self._filter.value)

    def narrow(self) -> None:
        """Show the rows that fit the filter."""
        raise NotImplementedError

    @on(Input.Changed)
    def _typed(self) -> None:
        self._foot.say("")
        self.narrow()

    def action_filter(self) -> None:
        self._filter.display = True
        self._filter.focus()

    @on(Input.Submitted)
    def action_to_table(self) -> None:
        self._filter.display = bool(self._filter.value)
        self.set_focus(self._list if self._list.can_focus else None)

    def action_drop_filter(self) -> None:
        self._filter.value = ""
        self.action_to_table()

    def action_back(self) -> None:
        if self._filter.value:
            self.action_drop_filter()
        else:
            self.action_leave()


class Words(SearchInput):
    """What the user writes about a row."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "screen.put_away", show=False)]


class WordsPanel(TablePanel[ScreenResultType]):
    """Its rows can be written."""

    def __init__(self, table: Table[Any], session: Session | None = None, facts: str = "") -> None:
        super().__init__(table, session, facts)
        self._words = Words(compact=True, select_on_focus=False)
        self._words.display = False

    def parts(self) -> Iterable[Widget]:
        return self._facts, self._list, self._words, self._foot

    def ask(self, text: str, placeholder: str, longest: int | None = None) -> None:
        """Let the user write, beginning with `text`."""
        self._words.max_length = longest
        self._words.value = text
        self._words.action_end()
        self._words.placeholder = placeholder
        self._words.display = True
        self._words.focus()

    def action_put_away(self) -> None:
        self._words.display = False
        self.set_focus(None)

"""A screen to choose from a long list, with a filter and a preview of the current line."""

from typing import ClassVar

from rich.console import RenderableType
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from pinfold.tui.in_order import SearchInput
from pinfold.tui.panels.modal import Modal
from pinfold.tui.panels.table import LineTable, Table

WIDE = 100
"""Columns from which a line's preview is beside the list."""


class Chooser(Modal[str | None]):
    """Its result is the key of a line, or None. Subclasses say what is in it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
    ]

    def __init__(self, title: str, keys: str) -> None:
        """`keys` describes Enter, Esc and the keys of the subclass."""
        super().__init__()
        self._title = title
        self._keys = keys
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
        self.input = SearchInput(placeholder="type to search", compact=True)
        self.list = LineTable()
        self._facts = Static(classes="facts", markup=False)
        self._preview = Static(classes="preview", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel full chooser") as panel:
            panel.border_title = self._title
            panel.border_subtitle = f"↑ ↓ choose · {self._keys}"
            yield self.input
            yield self._facts
            with Horizontal():
                yield self.list
                yield self._preview

    def say(self, facts: str) -> None:
        """Put a line above the list."""
        self._facts.update(facts)

    def preview(self, page: RenderableType) -> None:
        """Put a page beside the list."""
        self._preview.update(page)

    def looked_at(self, key: str | None) -> None:
        """The cursor is on another line."""

    def filtered(self) -> None:
        """The user has typed."""

    def take(self, key: str) -> None:
        """The user wants that line."""
        self.dismiss(key)

    @on(Table.Moved)
    def _moved(self, event: Table.Moved) -> None:
        self.looked_at(event.key)

    @on(Table.Taken)
    def _taken(self, event: Table.Taken) -> None:
        self.take(event.key)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        if self.list.current is not None:
            self.take(self.list.current)

    @on(Input.Changed)
    def _typed(self) -> None:
        self.filtered()

    def action_move(self, step: int) -> None:
        self.list.move(step)

    def action_page(self, way: int) -> None:
        self.list.page(way)

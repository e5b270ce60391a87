"""A list to choose from, with a filter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option


@dataclass(frozen=True, slots=True)
class Choice:
    """One line."""

    id: str
    text: str
    note: str = ""
    """What is said beside it."""


class Picker(ModalScreen[str | None]):
    """Its result is the id of the choice, or None."""

    CSS_PATH = "panels.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("up", "move('up')", show=False, priority=True),
        Binding("down", "move('down')", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        chosen: str = "",
        empty: str = "",
        preview: Callable[[str], None] | None = None,
    ) -> None:
        """`preview` is called with each choice that the user looks at."""
        super().__init__()
        self._title = title
        self._choices = choices
        self._chosen = chosen
        self._empty = empty
        self._preview = preview
        self._list = OptionList(compact=True)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel picker") as panel:
            panel.border_title = self._title
            panel.border_subtitle = "↑ ↓ choose · Enter takes · Esc leaves"
            if self._choices:
                yield Input(placeholder="type to filter", compact=True)
                yield self._list
            else:
                yield Static(self._empty, markup=False)

    def on_mount(self) -> None:
        self._fill("")

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self._fill(event.value)

    def _fill(self, query: str) -> None:
        words = query.lower().split()
        fitting = [
            each
            for each in self._choices
            if all(word in f"{each.text} {each.note}".lower() for word in words)
        ]
        self._list.clear_options()
        self._list.add_options([Option(_line(each), each.id) for each in fitting])
        ids = [each.id for each in fitting]
        if ids:
            self._list.highlighted = ids.index(self._chosen) if self._chosen in ids else 0
            self.call_after_refresh(self._list.scroll_to_highlight)

    def action_move(self, way: str) -> None:
        (self._list.action_cursor_up if way == "up" else self._list.action_cursor_down)()

    @on(OptionList.OptionHighlighted)
    def _look(self, event: OptionList.OptionHighlighted) -> None:
        if self._preview is not None and event.option_id is not None:
            self._preview(event.option_id)

    @on(OptionList.OptionSelected)
    def _take(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    @on(Input.Submitted)
    def _take_highlighted(self) -> None:
        if self._list.highlighted is not None:
            self.dismiss(self._list.get_option_at_index(self._list.highlighted).id)


def _line(choice: Choice) -> Text:
    line = Text(choice.text, no_wrap=True, overflow="ellipsis")
    if choice.note:
        line.append(f"  {choice.note}", "dim")
    return line

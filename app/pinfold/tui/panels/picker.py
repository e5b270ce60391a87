"""A list to choose from, with a filter."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from pinfold.tui.in_order import SearchInput
from pinfold.tui.panels.modal import Modal

_BATCH = 50
"""Choices that are shown at once while more of them are read."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One line."""

    id: str
    text: str
    note: str = ""
    """What is said beside it."""


class Picker(Modal[str | None]):
    """Its result is the id of the choice, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("up", "move('up')", show=False, priority=True),
        Binding("down", "move('down')", show=False, priority=True),
    ]

    class Came(Message):
        """More choices were read; none means the end."""

        def __init__(self, choices: Sequence[Choice]) -> None:
            super().__init__()
            self.choices = choices

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice] = (),
        *,
        chosen: str = "",
        empty: str = "",
        preview: Callable[[str], None] | None = None,
        source: Callable[[], Iterator[Choice]] | None = None,
        search: str = "",
    ) -> None:
        """`preview` is called with each choice that the user looks at.

        `source` yields more choices; it is read in a thread. `search` is the initial filter.
        """
        super().__init__()
        self._title = title
        self._choices = list(choices)
        self._chosen = chosen
        self._empty = empty
        self._preview = preview
        self._source = source
        self._input = SearchInput(search, placeholder="type to filter", compact=True)
        self._list = OptionList(compact=True)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel picker") as panel:
            panel.border_title = Content(self._title)  # a name is no markup
            panel.border_subtitle = "↑ ↓ choose · Enter selects · Esc closes"
            if self._choices or self._source:
                yield self._input
                yield self._list
            else:
                yield Static(self._empty, markup=False)

    def on_mount(self) -> None:
        self._fill(self._chosen)
        if self._source is not None:
            self._read(self._source())

    @work(thread=True)
    def _read(self, source: Iterator[Choice]) -> None:
        worker = get_current_worker()
        while not worker.is_cancelled:
            batch = list(islice(source, _BATCH))
            self.post_message(self.Came(batch))
            if not batch:
                return

    @on(Came)
    async def _add_choices(self, event: Came) -> None:
        if event.choices:
            self._choices += event.choices
            at = self._list.highlighted
            self._fill(self._chosen if at is None else self._list.get_option_at_index(at).id)
        elif not self._choices:
            await self._input.remove()
            await self._list.remove()
            await self.query_one(Vertical).mount(Static(self._empty, markup=False))

    @on(Input.Changed)
    def _filter(self) -> None:
        self._fill(self._chosen)

    def _fill(self, chosen: str | None) -> None:
        fitting = ranked(self._choices, self._input.value)
        self._list.clear_options()
        self._list.add_options([Option(_line(choice), choice.id) for choice in fitting])
        ids = [choice.id for choice in fitting]
        if ids:
            self._list.highlighted = ids.index(chosen) if chosen in ids else 0
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


def ranked(choices: Sequence[Choice], query: str) -> list[Choice]:
    """The choices that fit, best first.

    Those that hold all words of `query` come in their own order; then those whose text has its
    letters in that order, the closest together first.
    """
    words = query.lower().split()
    letters = "".join(words)
    whole: list[Choice] = []
    loose: list[tuple[int, int]] = []
    for at, choice in enumerate(choices):
        text = choice.text.lower()
        if all(word in f"{text} {choice.note.lower()}" for word in words):
            whole.append(choice)
        elif spread := _spread(letters, text):
            loose.append((spread, at))
    return [*whole, *(choices[at] for _, at in sorted(loose))]


def _spread(letters: str, text: str) -> int:
    """Length of the stretch that has all of `letters` in order; 0 if there is none."""
    places = [text.find(letters[0])]
    for letter in letters[1:]:
        places.append(text.find(letter, places[-1] + 1))
        if places[-1] < 0:
            return 0
    return places[-1] - places[0] + 1 if places[0] >= 0 else 0


def _line(choice: Choice) -> Text:
    line = Text(choice.text, no_wrap=True, overflow="ellipsis")
    if choice.note:
        line.append(f"  {choice.note}", "dim")
    return line

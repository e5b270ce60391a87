"""The answers of an approval card, to choose with arrows, a number, a letter or a click."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from pinfold.ports.approver import Question
from pinfold.sanitize import one_line


class Option(NamedTuple):
    """One way to answer."""

    action: str
    """The card's action that carries it out; it is also the name of its key."""
    text: str


class Choice(Static):
    """A line of the menu."""

    DEFAULT_CSS = """
    Choice {
        height: 1;
        text-wrap: nowrap;
        text-overflow: ellipsis;

        &.-chosen { color: $warning; text-style: bold; }
        &:hover { text-style: underline; }
    }
    """

    class Chosen(Message):
        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, number: int, option: Option, key: str) -> None:
        super().__init__(markup=False)
        self._number = number
        self._option = option
        self._key = key

    def show(self, *, chosen: bool) -> None:
        self.set_class(chosen, "-chosen")
        line = Text("❯ " if chosen else "  ", end="")
        line.append(f"{self._number} {self._option.text}")
        if self._key:
            line.append(f"  {self._key}", "dim")
        self.update(line)

    def on_click(self) -> None:
        self.post_message(self.Chosen(self._option.action))


class Menu(Vertical):
    """One line is chosen. It has no focus: the card has the keys."""

    DEFAULT_CSS = "Menu { height: auto; }"

    chosen: reactive[int] = reactive(0)

    def __init__(self, options: Sequence[Option], keys: Sequence[str]) -> None:
        """`keys` are beside them."""
        super().__init__()
        self.options = options
        self._rows = [
            Choice(number, option, key)
            for number, (option, key) in enumerate(zip(options, keys, strict=True), 1)
        ]

    def compose(self) -> ComposeResult:
        yield from self._rows

    def watch_chosen(self) -> None:
        for at, row in enumerate(self._rows):
            row.show(chosen=at == self.chosen)

    def move(self, by: int) -> None:
        """Choose another, around the ends."""
        self.chosen = (self.chosen + by) % len(self.options)


def options(question: Question) -> list[Option]:
    """How `question` can be answered, a plain yes first."""
    if not question.tool:
        return [Option("allow", "Yes"), Option("refuse", "No")]
    found = [Option("allow", "Yes, outside the sandbox" if question.outside else "Yes")]
    if question.network:
        found.append(Option("network", "Yes, in the sandbox with the network"))
    if always := _always(question):
        found.append(Option("always", always))
    found.append(Option("refuse", "No, and tell the model why"))
    edit = "Edit the command" if question.review.command is not None else "Edit it first"
    return [*found, Option("change", edit)]


def _always(question: Question) -> str:
    """What "always" would allow, as an answer; empty where it is not offered."""
    if question.prefix:
        if question.review.foreign is not None:
            return "Yes, always this tool in this session, until its description changes"
        prefix = one_line(question.prefix)
        if question.review.origin:
            return f"Yes, always from {prefix} in this session"
        what = "this command" if question.exact else f"`{prefix} …`"
        return f"Yes, always {what} in this session"
    if folders := question.folders:
        more = f" and {len(folders) - 1} more" if len(folders) > 1 else ""
        where = f"{one_line(folders[0]) or '.'}/{more}"
        return f"Yes, and allow edits in {where} in this session"
    return "Yes, and allow edits in this session" if question.edits else ""

"""The items of one window, or what differs between two: to search, and to read each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from pinfold.commands.context_text import KINDS
from pinfold.commands.history_text import FORMS, SIGNS
from pinfold.sanitize import one_line
from pinfold.tui.panels.chooser import Chooser
from pinfold.tui.panels.item import body, item_panel, title
from pinfold.tui.panels.picker import Choice, ranked
from pinfold.tui.panels.table import ListLine
from pinfold.window.generations import Difference, WindowItem

if TYPE_CHECKING:
    from pinfold.agent.steering.steering import Steering

_SHOWN = 1_600
"""Characters of an item that are shown beside the list."""


@dataclass(frozen=True, slots=True)
class ItemLine:
    n: int
    sign: str
    kind: str
    words: str
    note: str = ""
    """Its form, or how that changed."""


def standing_lines(items: Sequence[WindowItem]) -> Iterator[ItemLine]:
    """The items of a window."""
    for item in items:
        note = FORMS[item.form] if item.form != "full" else ""
        yield ItemLine(item.n, SIGNS[item.form], KINDS[item.kind], _words(item), note)


def difference_lines(items: Sequence[Difference]) -> Iterator[ItemLine]:
    """Added, removed and changed items."""
    for item in items:
        sign = "−" if item.after is None else "+" if item.before is None else "~"
        note = f"{FORMS[item.before]} → {FORMS[item.after]}" if sign == "~" else ""
        yield ItemLine(item.n, sign, KINDS[item.kind], _words(item), note)


def _words(entry: WindowItem | Difference) -> str:
    return one_line(f"{entry.name} {entry.words}")


class ItemsPanel(Chooser):
    """Enter reads an item; nothing is chosen."""

    def __init__(self, title: str, facts: str, lines: Sequence[ItemLine], window: Steering) -> None:
        super().__init__(title, "Enter reads · Esc closes")
        self._about = facts
        self._lines = {str(line.n): line for line in lines}
        self._choices = [
            Choice(key, f"#{key} {line.kind} {line.words}", line.note)
            for key, line in self._lines.items()
        ]
        self._window = window

    def on_mount(self) -> None:
        self.filtered()

    def filtered(self) -> None:
        query = self.input.value
        shown = ranked(self._choices, query)
        number = max((len(key) for key in self._lines), default=0) + 1
        kinds = max((len(line.kind) for line in self._lines.values()), default=0)
        self.list.show_lines([self._line(choice.id, number, kinds) for choice in shown], top=True)
        self.say(f"{len(shown):,} of {len(self._lines):,} match" if query else self._about)

    def _line(self, key: str, number: int, kinds: int) -> ListLine:
        line = self._lines[key]
        head = f"{line.sign} {f'#{key}':>{number}}  {line.kind:<{kinds}}"
        return ListLine(key, head, line.words, line.note)

    def looked_at(self, key: str | None) -> None:
        item = self._window.item(int(key)) if key else None
        if item is None:
            self.preview("")
        else:
            self.preview(Group(Text(title(item), "dim"), Text(body(item).strip()[:_SHOWN])))

    def take(self, key: str) -> None:
        item = self._window.item(int(key))
        if item is not None:
            self.app.push_screen(item_panel(item))

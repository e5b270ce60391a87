"""A consolidation of memories that waits: each change to accept, edit or reject."""

import asyncio
from collections.abc import Callable, Iterable
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from pinfold.memories import review
from pinfold.memories.keeper import Keeper
from pinfold.memories.review import ReviewHunk
from pinfold.memories.statements import parse
from pinfold.sanitize import clean, one_line
from pinfold.tui.colours import ink
from pinfold.tui.panels.item import ItemPanel
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import LineTable, ListLine, Table
from pinfold.tui.panels.table_panel import TablePanel
from pinfold.tui.panels.write import WritePanel

KEYS = [
    *moves("review"),
    *keys(
        "review",
        ("a", "accept", "Accept this change", "accept"),
        ("A", "accept_all", "Accept all changes", "accept all"),
        ("d", "reject", "Reject this change", "reject"),
        ("D", "reject_all", "Reject all changes", "reject all"),
        ("e", "edit", "Edit this change", "edit"),
        ("enter", "read", "Read the whole diff", "diff"),
        ("escape,q", "leave", "Close"),
    ),
]


class ReviewPanel(TablePanel[None]):
    HEADING = "A consolidation is waiting for review"
    HINT = "↑ ↓ choose · Esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, keeper: Keeper) -> None:
        self._list: LineTable = LineTable()
        super().__init__(self._list, facts="Reading the changes…")
        self._keeper = keeper
        self._hunks: dict[str, ReviewHunk] = {}
        self._diff = ""
        self._change = Static(markup=False)

    def parts(self) -> Iterable[Widget]:
        change = VerticalScroll(self._change, classes="change", can_focus=False)
        return self._facts, self._list, change, self._foot

    @work(exclusive=True, group="read")
    async def read(self, said: str = "") -> None:
        with self.telling():
            waiting = await asyncio.to_thread(self._keeper.pending)
            if waiting is None:
                self.dismiss(None)
                return
            self._diff = waiting.diff
            self._hunks = {hunk.id: hunk for hunk in waiting.hunks}
            count = len(self._hunks)
            self._facts.update(
                f"{count:,} change{'s' if count != 1 else ''} · nothing is used until you accept it"
            )
            self._list.show_lines([_line(hunk) for hunk in waiting.hunks])
            self._foot.say(said)

    @property
    def _hunk(self) -> ReviewHunk | None:
        return self._hunks.get(self._list.current or "")

    @on(Table.Moved)
    def _moved(self) -> None:
        hunk = self._hunk
        if hunk is None:
            return
        text = Text()
        for sign, part, colour in (("- ", hunk.before, "error"), ("+ ", hunk.after, "success")):
            for line in part.splitlines():
                text.append(f"{sign}{clean(line)}\n", ink(self.app, colour))
        self._change.update(text)
        self._foot.show(one_line(hunk.path), f"line {hunk.line}")

    # Keys

    def action_accept(self) -> None:
        if (hunk := self._hunk) is not None:
            self._do(lambda: review.accept(self._keeper.places, hunk.id), "Accepted.")

    def action_accept_all(self) -> None:
        self._do(lambda: review.accept(self._keeper.places, *self._hunks), "Accepted.")

    def action_reject(self) -> None:
        if (hunk := self._hunk) is not None:
            self._do(lambda: review.reject(self._keeper.places, hunk.id), "Rejected.")

    def action_reject_all(self) -> None:
        self._do(lambda: review.reject(self._keeper.places, *self._hunks), "Rejected.")

    @work
    async def action_edit(self) -> None:
        if (hunk := self._hunk) is None:
            return
        text = await self.app.push_screen_wait(WritePanel(one_line(hunk.path), hunk.after))
        if text is not None:
            self._do(
                lambda: review.edit(self._keeper.places, hunk.id, text), "Accepted in your words."
            )

    @on(Table.Taken)
    def action_read(self) -> None:
        self.app.push_screen(ItemPanel("What the consolidation changes", clean(self._diff)))

    @work(exclusive=True, group="do")
    async def _do(self, doing: Callable[[], None], said: str) -> None:
        with self.telling():
            await asyncio.to_thread(doing)
            self.read(said)


def _line(hunk: ReviewHunk) -> ListLine:
    sign = "+" if not hunk.before else "−" if not hunk.after else "~"
    said = (hunk.after or hunk.before).strip().splitlines()
    more = f"{len(said)} lines" if len(said) > 1 else ""
    return ListLine(
        hunk.id, sign, _line_text(said[0]) if said else "(blank lines)", more, hunk.path
    )


def _line_text(line: str) -> str:
    statement = parse(line)
    return f"{statement.kind}: {statement.text}" if statement else line


PANEL = Panel(
    "In the review of a consolidation (r in /memories)",
    KEYS,
    lambda host, _: ReviewPanel(host.host.memories.keeper),
)

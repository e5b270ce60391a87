"""The panel of the protected core: the goal, the user's entries, suggestions to confirm."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.widgets import Input

from pinfold.checkpoint.core import Suggestion
from pinfold.rollout import provenance
from pinfold.rollout.items import Item
from pinfold.rollout.values import CoreStatement
from pinfold.sanitize import clean, one_line
from pinfold.tui.panels.checkpoint_list import CheckpointList
from pinfold.tui.panels.core_rows import GOAL, PLACEHOLDERS, Writing, about, key_of, rows_of
from pinfold.tui.panels.item import ItemPanel, item_panel
from pinfold.tui.panels.keys import keys, moves, own_keys
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.table_panel import WordsPanel
from pinfold.tui.transcript.lines import clip

if TYPE_CHECKING:
    from pinfold.agent.session import Session

KEYS = [
    *moves("core", home="home"),
    *keys(
        "core",
        ("y", "confirm", "Confirm a suggestion", "confirm"),
        ("a", "write('add')", "Add your own text", "add"),
        ("e", "write('edit')", "Edit", "edit"),
        ("x,delete", "drop", "Remove", "remove"),
        ("g", "write('goal')", "Set the goal", "goal"),
        ("z", "undo", "Undo the last change made here", "undo"),
        ("enter", "open", "Open the message it comes from", "item"),
        ("escape,q", "leave", "Leave"),
    ),
]
LONGEST = 400
"""Characters of an entry."""
_TOLD = 48
"""Cells of an entry in a message."""
Doing = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Pen:
    """What is being written, and the entry it replaces."""

    what: Writing
    of: CoreStatement | None = None


class CorePanel(WordsPanel[None]):
    """Follows the session, also while a turn runs. Every change is journalled at once."""

    HEADING = "Protected core"
    HINT = "Repeated after every compaction · Esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, session: Session) -> None:
        self._list: CheckpointList = CheckpointList()
        super().__init__(self._list, session, "Reading the session…")
        self._session = session
        self._window = session.window
        self._said: Mapping[str, CoreStatement] = {}
        """The user's entries, by row."""
        self._suggested: Mapping[str, Suggestion] = {}
        """Suggestions, by row."""
        self._pen: _Pen | None = None
        self._wanted = ""
        """The row that was just written."""
        self._undos: list[tuple[str, Doing]] = []
        """Each change made here, and how to undo it."""

    # What is shown

    @work(exclusive=True, group="read")
    async def read(self) -> None:
        with self.telling():
            kept = await self._session.compaction.remembered(0)
            self._show(kept.stated, kept.suggested)

    def _show(self, said: Sequence[CoreStatement], suggested: Sequence[Suggestion]) -> None:
        self._said = {key_of(stated): stated for stated in said}
        self._suggested = {key_of(suggestion): suggestion for suggestion in suggested}
        count = f"{len(said):,} {'entry' if len(said) == 1 else 'entries'}"
        tokens = sum(self._window.count(stated.text) for stated in said)
        tokens += self._window.count(self._window.goal)
        self._facts.update(f"{count} · {tokens:,} tokens with the goal")
        last, before = self._list.current, list(self._list.rows)
        own = own_keys(self)
        rows = rows_of(self._window.goal, self._first(), self._said, self._suggested, own)
        self._list.show_rows(rows)
        self._follow(last, before)

    def _follow(self, last: str | None, before: Sequence[str]) -> None:
        """Put the cursor on the row just written, or where a row was removed."""
        now = list(self._list.rows)
        wanted, self._wanted = self._wanted, ""
        if wanted in now:
            to = now.index(wanted)
        elif last is None or last in now:
            return
        else:
            to = min(before.index(last), len(now) - 1)
        self._list.move(to - now.index(self._list.current or GOAL))

    def _first(self) -> Item | None:
        """The first request, if it is the goal."""
        first = provenance.request(self._session.items)
        if first is None or provenance.words(first) != self._window.goal:
            return None
        return first

    @on(Table.Moved)
    def _moved(self) -> None:
        row = self._list.row
        if row is None:
            self._foot.show("")
        else:
            self._foot.show(row.text, *about(row))

    # Keys: the list

    @on(Table.Taken)
    def action_open(self) -> None:
        row = self._list.row
        if row is None:
            return
        item = None if row.item is None else self._window.item(row.item)
        if item is not None:
            self.app.push_screen(item_panel(item))
        else:
            text = self._window.goal if row.key == GOAL else row.text
            self.app.push_screen(ItemPanel("Full text", clean(text) or row.text))

    # Keys: changes

    def _chosen(self) -> CoreStatement | None:
        row = self._list.row
        return None if row is None else self._said.get(row.key)

    def action_write(self, what: Writing) -> None:
        """Ask for a text; `edit` begins with the entry under the cursor."""
        chosen = self._chosen()
        if what == "edit" and chosen is None:
            what = "goal"
        self._pen = _Pen(what, chosen if what == "edit" else None)
        before = {"add": "", "edit": chosen.text if chosen else "", "goal": self._window.goal}[what]
        line = before if len(before.splitlines()) <= 1 else ""
        self.ask(line, PLACEHOLDERS[what], None if what == "goal" else LONGEST)

    def action_put_away(self) -> None:
        self._pen = None
        super().action_put_away()

    @on(Input.Submitted)
    async def _written(self) -> None:
        pen, text = self._pen, one_line(self._words.value).strip()
        self.action_put_away()
        if pen is None or not text:
            return
        if pen.what == "goal":
            await self._set_goal(text)
        elif any(stated.text == text for stated in self._said.values()):
            self._foot.say("That is already there.", "warning")
        elif pen.of is None:
            await self._change("Added", [CoreStatement(text)], [])
        else:
            await self._change("Changed", [CoreStatement(text, pen.of.item)], [pen.of])

    async def action_confirm(self) -> None:
        row = self._list.row
        chosen = None if row is None else self._suggested.get(row.key)
        if chosen is None:
            self._foot.say("Only unconfirmed suggestions can be confirmed.", "warning")
        else:
            await self._change("Confirmed", [CoreStatement(chosen.text, chosen.item)], [])

    async def action_drop(self) -> None:
        row, chosen = self._list.row, self._chosen()
        if chosen is not None:
            await self._change("Removed", [], [chosen])
        elif row is not None and row.note:
            self._foot.say("Your first request is the goal until you set one.", "warning")
        elif row is not None and self._window.goal:
            await self._set_goal("")

    async def _set_goal(self, text: str) -> None:
        before = "" if self._first() else self._window.goal
        await self._do(
            f"Goal: {clip(text, _TOLD)}" if text else "The goal is your first request again",
            lambda: self._window.set_goal(text),
            lambda: self._window.set_goal(before),
        )

    async def _change(
        self, verb: str, add: Sequence[CoreStatement], remove: Sequence[CoreStatement]
    ) -> None:
        back = [CoreStatement(stated.text, stated.item) for stated in remove]

        async def change(to: Sequence[CoreStatement], of: Sequence[CoreStatement]) -> None:
            self._wanted = key_of(to[0]) if to else ""
            await self._window.change_core(to, [stated.text for stated in of])

        await self._do(
            f"{verb}: {clip((add or back)[0].text, _TOLD)}",
            lambda: change(add, back),
            lambda: change(back, add),
        )

    async def _do(self, said: str, doing: Doing, undo: Doing) -> None:
        if await self._done(doing, f"{said} · {self.key_of('core.undo')} undoes it"):
            self._undos.append((said, undo))

    async def action_undo(self) -> None:
        if not self._undos:
            self._foot.say("Nothing has been changed here yet.", "warning")
            return
        said, undo = self._undos[-1]
        if await self._done(undo, f"{said} · undone"):
            self._undos.pop()

    async def _done(self, doing: Doing, said: str) -> bool:
        with self.telling():
            await doing()
            self._foot.say(said)
            self.read()
            return True
        return False


PANEL = Panel("In the protected core (/core)", KEYS, lambda host, _: CorePanel(host.session))

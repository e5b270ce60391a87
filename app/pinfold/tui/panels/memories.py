"""The panel of memories: what earlier sessions learned, where each line comes from, and what to do
about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.screen import Screen
from textual.widgets import Input

from pinfold.commands.context_text import age
from pinfold.commands.memories import cited, source_page
from pinfold.memories.listing import ListedMemory
from pinfold.memories.team import asking
from pinfold.rollout.values import CoreStatement
from pinfold.sanitize import one_line
from pinfold.tui.panels.ask import AskPanel
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.item import ItemPanel
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.memories_list import SAID, MemoriesList, ordered, source, whose
from pinfold.tui.panels.memories_review import ReviewPanel
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.table_panel import WordsPanel

if TYPE_CHECKING:
    from pinfold.agent.session import Session
    from pinfold.host.memories import Memories

KEYS = [
    *moves("memories"),
    *keys(
        "memories",
        ("enter", "open", "Show its source in the old session", "source"),
        ("p", "pin", "Add it to the protected core", "pin"),
        ("e", "edit", "Edit it, in your own words", "edit"),
        ("y", "confirm", "Confirm one that may be out of date", "confirm"),
        ("f", "forget", "Forget everything from its session, for good", "forget"),
        ("r", "review", "Review a pending consolidation", "review"),
        ("z", "undo", "Undo the last consolidation", "undo"),
        ("x", "export", "Export all to a file in this folder", "export"),
        ("escape,q", "leave", "Close"),
    ),
]
EXPORTED = "pinfold-memories.md"
NONE = (
    "There are no memories yet. They are made from finished sessions, in the background: "
    "/memories run makes them now."
)
OFF = "Memories are off. /memories on turns them on; docs/memories.md says what is sent where."


class MemoriesPanel(WordsPanel[None]):
    HEADING = "Memories"
    HINT = "What earlier sessions learned · Esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(
        self,
        session: Session,
        memories: Memories,
        now: datetime | None = None,
    ) -> None:
        self._now = now or datetime.now(UTC)
        self._list: MemoriesList = MemoriesList(self._now)
        super().__init__(self._list, facts="Reading the memories…")
        self._session = session
        self._host = memories
        self._keeper = memories.keeper
        self._edited: ListedMemory | None = None

    # What is shown

    @work(exclusive=True, group="read")
    async def read(self) -> None:
        with self.telling():
            found = await asyncio.to_thread(self._keeper.memories, self._session.window.count)
            waiting = await asyncio.to_thread(self._keeper.pending)
            self._list.show_memories(ordered(found, self._session.cwd))
            self._facts.update(self._summary(found, held=waiting is not None))
            if not found:
                self._foot.show(NONE if self._host.enabled else OFF)

    def _summary(self, found: Sequence[ListedMemory], *, held: bool) -> str:
        count = f"{len(found):,} {'memory' if len(found) == 1 else 'memories'}"
        said = [count]
        doubtful = sum(memory.state in ("stale", "unconfirmed") for memory in found)
        carried = sum(memory.tokens for memory in found if memory.state == "told")
        said += [f"{carried:,} tokens given to new sessions"] if carried else []
        said += [f"! {doubtful} in doubt"] if doubtful else []
        said += ["! a consolidation is waiting for review: r"] if held else []
        said += [] if self._host.enabled else ["off: /memories on"]
        return " · ".join(said)

    @on(Table.Moved)
    def _moved(self) -> None:
        memory = self._list.row
        if memory is None:
            return
        at = datetime.fromtimestamp(memory.at, UTC) if memory.at else None
        used = datetime.fromtimestamp(memory.last_use, UTC) if memory.last_use else None
        old = age(at, self._now) if at else ""
        last = age(used, self._now) if used else ""
        last = "just now" if last == "now" else f"{last} ago"
        self._foot.show(
            one_line(memory.text),
            one_line(memory.why) or SAID[memory.state],
            whose(memory),
            f"from {one_line(source(memory))}" if memory.cites else "in your own words",
            ("new" if old == "now" else f"{old} old") if old else "",
            f"used {memory.uses}×" + (f", last {last}" if used else ""),
            f"{memory.tokens:,} tokens",
        )

    # Keys

    @on(Table.Taken)
    @work(exclusive=True, group="open")
    async def action_open(self) -> None:
        memory = self._list.row
        if memory is None:
            return
        if not memory.cites:
            self._foot.say("You wrote it: it does not come from a session.", "warning")
            return
        with self.telling():
            found = await asyncio.to_thread(self._keeper.sources, memory.cites)
            self.app.push_screen(ItemPanel(*source_page(found)))

    async def action_pin(self) -> None:
        if (memory := self._list.row) is None:
            return
        if memory.owner:
            why = f"Not pinned: {one_line(memory.owner)} shared it, and the core is your own words."
            self._foot.say(why, "warning")
            return
        if memory.state in ("stale", "unconfirmed"):
            why = f"Not pinned: {one_line(memory.why)}. Edit it into your own words first."
            self._foot.say(why, "warning")
            return
        with self.telling():
            await self._session.window.change_core([CoreStatement(memory.text)])
            self._foot.say("Pinned: it is in the protected core of this session. /core shows it.")

    def action_edit(self) -> None:
        if (memory := self._list.row) is None:
            return
        self._edited = memory
        self.ask(memory.text, "in your own words; empty removes it")

    def action_put_away(self) -> None:
        self._edited = None
        super().action_put_away()

    @on(Input.Submitted)
    def _written(self) -> None:
        memory, text = self._edited, self._words.value
        self.action_put_away()
        if memory is not None:
            self._do(lambda: self._keeper.edit(memory, text))

    def action_confirm(self) -> None:
        if (memory := self._list.row) is not None:
            self._do(lambda: self._keeper.confirm(memory))

    @work
    async def action_forget(self) -> None:
        if (memory := self._list.row) is None:
            return
        others = sum(
            bool({*m.sessions} & {*memory.sessions}) and m.key != memory.key
            for m in self._list.items
        )
        question = await asyncio.to_thread(asking.forgetting, self._keeper.teams, memory, others)
        if await self.app.push_screen_wait(AskPanel(question, "forgets")):
            self._do(lambda: self._keeper.forget_memory(memory))

    @work
    async def action_review(self) -> None:
        waiting = await asyncio.to_thread(self._keeper.pending)
        if waiting is None:
            self._foot.say("No consolidation is waiting for review.", "warning")
            return
        await self.app.push_screen_wait(ReviewPanel(self._keeper))
        self.read()

    @work
    async def action_undo(self) -> None:
        question = (
            "Undo the last consolidation? The memory files go back to what they were before it."
        )
        if await self.app.push_screen_wait(AskPanel(question, "undoes it")):
            self._do(self._keeper.undo)

    def action_export(self) -> None:
        path = _free_path(self._session.cwd / EXPORTED)

        def export() -> str:
            count = self._keeper.export(path, self._session.window.count)
            return f"Exported {count:,} to {path.name}, without the secrets in them."

        self._do(export)

    @work(exclusive=True, group="do")
    async def _do(self, doing: Callable[[], str]) -> None:
        with self.telling():
            said = await asyncio.to_thread(doing)
            self._foot.say(said)
            self.read()


def _free_path(path: Path) -> Path:
    """A name in the same folder that nothing has yet."""
    number = 1
    found = path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found


def _open(host: PanelHost, wanted: str) -> Screen[None] | Coroutine[Any, Any, None]:
    match wanted:
        case "clear":
            return _clear(host)
        case "source":
            return _show_source(host)
        case _:
            return MemoriesPanel(host.session, host.host.memories)


async def _clear(host: PanelHost) -> None:
    question = (
        "Remove every memory, every record and every copy of them? Sessions stay, and "
        "memories can be made from them again, except those you have forgotten."
    )
    if await host.push_screen_wait(AskPanel(question, "removes them")):
        host.tell(await asyncio.to_thread(host.host.memories.keeper.clear))


async def _show_source(host: PanelHost) -> None:
    found = await asyncio.to_thread(host.host.memories.keeper.sources, cited(host.session))
    host.push_screen(ItemPanel(*source_page(found)))


PANEL = Panel("Among memories (/memories)", KEYS, _open)

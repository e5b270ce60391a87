"""Skills and the user's own commands: what each costs, its source, whether it is accepted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual import on, work
from textual.binding import BindingType

from pinfold.commands.skills_text import NONE, SOURCES, called, page, sign, standing
from pinfold.numbers import tokens
from pinfold.tui.panels.accept import AcceptPanel
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.item import ItemPanel
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Cell, Sizes, Table
from pinfold.tui.panels.table_panel import TablePanel

if TYPE_CHECKING:
    from pinfold.skills.extension import Extension, Extensions, Kind

KEYS = [
    *moves("skills"),
    *keys(
        "skills",
        ("enter", "open", "Read it", "read"),
        ("t", "accept", "Accept one of the project's, after reading it", "accept"),
        ("T", "accept_all", "Accept all that wait", "accept all"),
        ("escape,q", "leave", "Close"),
    ),
]
_INKS = {"●": "success", "?": "warning", "!": "warning"}


class ExtensionsList(Table["Extension"]):
    SIZES: ClassVar[Sizes] = {"sign": 1, "name": 20, "words": 0, "source": 7, "tokens": 6}
    RIGHT = ("tokens",)
    GIVE_WAY: ClassVar[Sizes] = {"name": 12, "source": 0, "tokens": 0}
    ENOUGH = 24
    STAYS = True

    def __init__(self) -> None:
        super().__init__()
        self.costs: dict[str, int] = {}
        """Tokens of each, by key."""

    def cells(self, row: Extension) -> Iterable[Cell]:
        shown = sign(row)
        dim = self.get_component_rich_style("table--beside", partial=True)
        return (
            (shown, self.ink(_INKS[shown]) if shown in _INKS else dim),
            (called(row), Style()),
            (row.description, dim if row.hidden_by or row.state != "ready" else Style()),
            (SOURCES[row.source], dim),
            (tokens(self.costs.get(row.key, 0)), dim),
        )


class ExtensionsPanel(TablePanel[None]):
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, host: PanelHost, kind: Kind) -> None:
        self.HEADING = "Skills" if kind == "skill" else "Commands"
        self._list: ExtensionsList = ExtensionsList()
        super().__init__(self._list, facts="Reading the files…")
        self._host = host
        self._kind: Kind = kind
        self._session = host.session

    @work(exclusive=True, group="read")
    async def read(self) -> None:
        with self.telling():
            if (library := self._session.library) is None:
                self._facts.update("This session has none.")
                return
            shelf = await asyncio.to_thread(library.refresh)
            self._show(shelf)

    def _show(self, shelf: Extensions) -> None:
        found = shelf.of(self._kind)
        count = self._session.window.count
        self._list.costs = {one.key: count(one.body) for one in found}
        self._list.show({one.key: one for one in found})
        self._facts.update(" · ".join(self._summary(found)))
        if problems := shelf.unusable.get(self._kind):
            self._foot.say("\n".join(problems[:3]), "warning")
        elif not found:
            self._foot.show(NONE[self._kind])

    def _summary(self, found: Sequence[Extension]) -> list[str]:
        said = [f"{len(found):,} {self._kind}{'' if len(found) == 1 else 's'}"]
        index = self._session.window.context.skills
        if self._kind == "skill" and index is not None:
            size = tokens(self._session.window.count(index.told))
            said.append(f"{size} tokens in each request{' (folded)' if index.folded else ''}")
        waiting = sum(one.state != "ready" for one in found)
        if waiting:
            said.append(f"! {waiting} wait{'s' if waiting == 1 else ''} for your approval: t")
        return said

    @on(Table.Moved)
    def _moved(self) -> None:
        if (one := self._list.row) is not None:
            hint = f"/{called(one)} {one.hint}".rstrip()
            size = tokens(self._list.costs.get(one.key, 0))
            self._foot.show(one.description, *standing(one), one.shown, hint, f"{size} tokens")

    # Keys

    @on(Table.Taken)
    def action_open(self) -> None:
        if (one := self._list.row) is not None:
            self.app.push_screen(ItemPanel(f"/{called(one)}", page(one)))

    def action_accept(self) -> None:
        one = self._list.row
        if one is not None and one.state != "ready":
            self._ask([one])
        elif one is not None:
            self._foot.say("It is not waiting for approval.", "warning")

    def action_accept_all(self) -> None:
        waiting = [one for one in self._list.items if one.state != "ready"]
        if waiting:
            self._ask(waiting)
        else:
            self._foot.say("None is waiting for approval.", "warning")

    @work(exclusive=True, group="ask")
    async def _ask(self, asked: Sequence[Extension]) -> None:
        library = self._session.library
        assert library is not None
        if not await self.app.push_screen_wait(AcceptPanel(asked)):
            return
        with self.telling():
            said = ""
            if any(one.state == "untrusted" for one in asked):
                said = await asyncio.to_thread(self._host.host.trust)
            # What was shown is accepted: a file that has changed since waits on.
            self._show(await asyncio.to_thread(library.accept, asked))
            names = ", ".join(f"/{called(one)}" for one in asked)
            self._foot.say(f"Accepted: {names}. {said}".rstrip())


PANEL = Panel(
    "Among skills and commands (/skills, /commands)",
    KEYS,
    lambda host, kind: ExtensionsPanel(host, "command" if kind == "command" else "skill"),
)

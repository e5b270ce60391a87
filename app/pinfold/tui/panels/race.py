"""Races between agents: what each changed, how its tests ended, what it cost; one is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.widgets import Input

from pinfold.agent.children.races import Ran
from pinfold.agent.updates import ChildChanged
from pinfold.ports.tool import ToolError
from pinfold.sanitize import one_line
from pinfold.tui.panels.ask import AskPanel
from pinfold.tui.panels.diff import DiffPanel
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.keys import keys, moves
from pinfold.tui.panels.race_list import RaceList, Racer
from pinfold.tui.panels.registry import Panel
from pinfold.tui.panels.table import Table
from pinfold.tui.panels.table_panel import WordsPanel
from pinfold.tui.transcript import agents

if TYPE_CHECKING:
    from pinfold.agent.children.races import RacerOutcome
    from pinfold.agent.session import Session
    from pinfold.agent.updates import Update

KEYS = [
    *moves("race"),
    *keys(
        "race",
        ("enter", "diff", "Show what it changed", "diff"),
        ("t", "test", "Run a command in each folder", "test"),
        ("K", "keep", "Keep it: bring its changes into your folder", "keep"),
        ("o", "open", "Open its transcript", "open"),
        ("s", "stop", "Stop it; what it did is kept", "stop"),
        ("x,delete", "remove", "Remove its folder", "remove"),
        ("escape,q", "leave", "Close"),
    ),
]
STOPPED = "the user stopped it"
FILES = 8
"""Changed files that are named."""
MEASURED = 4.0
"""Seconds between two readings of the folders of running agents."""


class RacePanel(WordsPanel[int | None]):
    """Its result is the number of the agent whose transcript to open."""

    HEADING = "Races"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, session: Session) -> None:
        self._list: RaceList = RaceList()
        super().__init__(self._list, session)
        self._session = session
        self._races = session.races
        self._outcomes: dict[int, RacerOutcome] = {}
        self._command = ""

    @contextmanager
    def telling(self) -> Iterator[None]:
        with super().telling():
            try:
                yield
            except ToolError as error:
                self._foot.say(str(error), "error")

    # What is shown

    def begin(self) -> None:
        super().begin()
        self._measure()
        self.set_interval(1, self._tick)
        self.set_interval(MEASURED, self._look)

    def _tick(self) -> None:
        if self._session.children.running:  # their time goes on
            self.read()

    def _look(self) -> None:
        if self._session.children.running:
            self._measure()

    def hear(self, update: Update) -> None:
        if isinstance(update, ChildChanged):
            self.read_soon()
            if self._session.children.end(update.child) is not None:
                self._measure()

    def read(self) -> None:
        shown: list[tuple[str, list[Racer]]] = []
        for race in reversed(self._races.known):
            found = (self._racer(child.child) for child in self._races.racers(race.race))
            shown.append((race.prompt, [racer for racer in found if racer is not None]))
        self._list.show_races(shown)
        count = len(self._races.known)
        said = "Your folder stays as it is until you keep one."
        tested = [one for race in self._races.known if (one := self._races.tested(race.race))]
        if tested:
            said = f"test: $ {one_line(tested[-1].command)}"
        self._facts.update(f"{count} race{'s' if count != 1 else ''} · {said}")

    def _racer(self, number: int) -> Racer | None:
        status = self._session.children.status(number)
        if status is None:
            return None
        child = next(one for one in self._session.children.known if one.child == number)
        outcome = self._outcomes.get(number)
        test = outcome.ran if outcome is not None else None
        if (tested := self._races.tested(child.race)) is not None:
            test = Ran(tested.command, dict(tested.codes).get(number))
        kept = self._races.kept(child.race) == number
        return Racer(status, child.race, child.model, outcome, test, kept)

    @work(exclusive=True, group="measure")
    async def _measure(self) -> None:
        with self.telling():
            for race in reversed(self._races.known):
                self._outcomes |= await self._races.outcomes(race.race)
                self.read()

    @on(Table.Moved)
    def _moved(self) -> None:
        if (racer := self._list.row) is None:
            return
        status, outcome = racer.status, racer.outcome
        said = [agents.SAID[status.state] or "working"]
        if outcome is not None and outcome.files:
            said.append(f"changed {agents.named([file.path for file in outcome.files], FILES)}")
        if racer.test is not None:
            code = "timed out" if racer.test.code is None else f"exit code {racer.test.code}"
            said.append(f"$ {one_line(racer.test.command)}: {code}")
        if status.worktree:
            said.append(f"in {status.worktree}")
        problem = outcome.problem if outcome is not None and not status.running else ""
        about = status.line if status.running else one_line(status.reason or problem)
        self._foot.show(f"a{status.number}", *said, effect=about)

    # Keys

    @on(Table.Taken)
    @work
    async def action_diff(self) -> None:
        if (racer := self._list.row) is None:
            return
        with self.telling():
            diff = await self._races.diff(racer.status.number)
            if diff:
                title = f"What a{racer.status.number} changed"
                self.app.push_screen(DiffPanel(diff, title))
            else:
                self._foot.say(f"a{racer.status.number} has changed nothing.")

    def action_open(self) -> None:
        if (racer := self._list.row) is not None:
            self.dismiss(racer.status.number)

    def action_test(self) -> None:
        if self._list.row is not None:
            self.ask(self._command, "a command to run in each folder, e.g. pytest -q")

    @on(Input.Submitted)
    @work
    async def _run_test(self, event: Input.Submitted) -> None:
        self.action_put_away()
        racer, command = self._list.row, event.value.strip()
        if racer is None or not command:
            return
        self._command = command
        self._foot.say(f"Running $ {one_line(command)} in each folder…")
        with self.telling():
            printed = await self._races.test(racer.race, command)
            self.read()
            last = printed.get(racer.status.number, "").strip().splitlines()[-2:]
            self._foot.say(f"a{racer.status.number}: {one_line(' '.join(last))}")
            self._measure()

    @work
    async def action_keep(self) -> None:
        if (racer := self._list.row) is None:
            return
        number = racer.status.number
        files = len(racer.outcome.files) if racer.outcome is not None else 0
        question = (
            f"Keep the work of a{number}? Its changes in {files} file{'s' if files != 1 else ''} "
            "come into your folder, if nobody has changed those there since the race began; its "
            "last reply comes into the window. The others' folders stay."
        )
        if not await self.app.push_screen_wait(AskPanel(question, "keeps it")):
            return
        with self.telling():
            kept = await self._races.keep(number)
            self.read()
            self._foot.say(
                f"Kept a{number}: {len(kept)} file{'s' if len(kept) != 1 else ''} changed in your "
                "folder."
            )
            await self._offer_removal(racer)

    async def _offer_removal(self, kept: Racer) -> None:
        """Ask whether to remove the folders of the race."""
        ended = self._session.children.end
        racers = [child for child in self._races.racers(kept.race) if ended(child.child)]
        names = ", ".join(f"a{child.child}" for child in racers)
        question = (
            f"Remove the folders of this race ({names}), with what the others changed? "
            "Their transcripts stay. Without this they stay, too."
        )
        if await self.app.push_screen_wait(AskPanel(question, "removes them")):
            for child in racers:
                await self._races.remove(child.child)
            self._foot.say("The folders of the race are removed.")
            self._measure()

    @work
    async def action_remove(self) -> None:
        if (racer := self._list.row) is None:
            return
        number = racer.status.number
        question = f"Remove the folder of a{number} with all that it changed? Its transcript stays."
        if await self.app.push_screen_wait(AskPanel(question, "removes it")):
            with self.telling():
                await self._races.remove(number)
                self._foot.say(f"The folder of a{number} is removed.")
                self._measure()

    @work
    async def action_stop(self) -> None:
        racer = self._list.row
        if racer is None or not racer.status.running:
            self._foot.say("It has already ended." if racer else "It does not run.", "warning")
            return
        number = racer.status.number
        if await self.app.push_screen_wait(AskPanel(f"Stop agent a{number}?", "stops it")):
            self._session.children.stop(number, STOPPED)
            self._foot.say(f"Stopping agent a{number}.")


async def _open(host: PanelHost, _: str) -> None:
    chosen = await host.push_screen_wait(RacePanel(host.session))
    if chosen is not None:
        host.show_agent(chosen, back=lambda: host.open("race"))


PANEL = Panel("Among races (/race)", KEYS, _open)

"""Races: several agents answer one prompt, each in a fork of the window and a folder of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pinfold.agent.calls.approvals import Consent
from pinfold.agent.calls.confinement import Confinement
from pinfold.agent.calls.results import observed
from pinfold.agent.children import past
from pinfold.agent.children.child import child_name
from pinfold.agent.children.children import Children
from pinfold.agent.children.race_folders import Base, FileChange, RaceFolders
from pinfold.agent.children.reply import NOTHING
from pinfold.agent.record import BUSY, READ_ONLY, Record
from pinfold.agent.turn.work import Work
from pinfold.ports.tool import ToolContext, ToolError
from pinfold.rollout import provenance
from pinfold.rollout.events import ChildStarted, ItemAdded
from pinfold.rollout.items import CHILD, Item
from pinfold.rollout.journal import JournalError
from pinfold.rollout.race_events import RaceKept, RaceStarted, RaceTested
from pinfold.sanitize import one_line
from pinfold.tools import workspace

FEWEST, MOST = 2, 4
"""Agents in a race."""
STORE = "races"
"""The folder in a session's that holds the trees of folders without a repository."""
TIMEOUT = 600
"""Seconds."""
DESCRIPTION = 200
"""Characters of the prompt that the agents are known by."""


class Ran(Struct, frozen=True):
    """A command that an agent ran, and how that ended; None where it was timed out."""

    command: str
    code: int | None


class RacerOutcome(Struct, frozen=True):
    """The changes in an agent's folder, and its last command."""

    files: tuple[FileChange, ...] = ()
    ran: Ran | None = None
    problem: str = ""
    """Why its folder can't be read."""

    @property
    def added(self) -> int:
        return sum(file.added or 0 for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed or 0 for file in self.files)


@dataclass(eq=False)
class Races:
    _record: Record
    _children: Children
    _consent: Consent
    _confinement: Confinement
    _folders: RaceFolders | None
    _work: Work

    @property
    def known(self) -> Sequence[RaceStarted]:
        return list(self._record.state.races.values())

    def racers(self, race: int) -> Sequence[ChildStarted]:
        return [child for child in self._children.known if child.race == race]

    def kept(self, race: int) -> int:
        """The agent whose changes were kept; 0 for none."""
        kept = self._record.state.races_kept.get(race)
        return kept.child if kept is not None else 0

    def tested(self, race: int) -> RaceTested | None:
        """The last command of the user's that ran in all its folders."""
        return self._record.state.races_tested.get(race)

    async def start(self, prompt: str, count: int, models: Sequence[str] = ()) -> Base:
        """Begin one; each agent gets the model at its place, or the session's.

        Raises `ToolError`, `JournalError`.
        """
        folders = self._there()
        self._check_idle()
        if self._consent.mode == "read-only":
            raise ToolError("Approvals are read-only: a race changes files. /approvals sets them.")
        if self._children.running:
            raise ToolError("Agents are running: wait, or stop them with /agents.")
        base = await folders.base(self._record.journal.folder / STORE)
        race = max(self._record.state.races, default=0) + 1
        await self._record.append(
            RaceStarted(race=race, prompt=prompt, apart=base.apart, tree=base.tree)
        )
        at = self._record.state.last_n or None
        for place in range(count):
            started = ChildStarted(
                child=0,
                session="",
                agent="",
                description=one_line(prompt)[:DESCRIPTION],
                call_id="",
                background=True,
                race=race,
                model=models[place % len(models)] if models else "",
            )
            make = partial(_made, folders, base)
            await self._children.start(
                started, prompt, fork="all", at=at, worktree=True, place=make
            )
        return base

    async def outcomes(self, race: int) -> dict[int, RacerOutcome]:
        """The changes of each agent so far, with the last command that all of them ran, or its own
        last one."""
        racers = self.racers(race)
        ran = {child.child: await self._ran(child) for child in racers}
        common = set.intersection(*({one.command for one in every} for every in ran.values()))
        found: dict[int, RacerOutcome] = {}
        for child in racers:
            every = ran[child.child]
            last = [one for one in every if one.command in common] or every
            one = last[-1] if last else None
            try:
                files = await self._there().changes(child.worktree, self._base(race))
                found[child.child] = RacerOutcome(tuple(files), one)
            except ToolError as error:
                found[child.child] = RacerOutcome(ran=one, problem=str(error))
        return found

    async def diff(self, number: int) -> str:
        """The diff of an agent's folder. Raises `ToolError`."""
        child = self._racer(number)
        return await self._there().diff(child.worktree, self._base(child.race))

    async def test(self, race: int, command: str) -> dict[int, str]:
        """Run the user's command in each folder, sandboxed like the session's commands; the outputs
        by agent. Raises `ToolError`, `JournalError`."""
        racers = self.racers(race)
        ran = await asyncio.gather(*(self._test(child, command) for child in racers))
        codes = tuple((child.child, code) for child, (code, _) in zip(racers, ran, strict=True))
        await self._record.append(RaceTested(race=race, command=command, codes=codes))
        return {child.child: text for child, (_, text) in zip(racers, ran, strict=True)}

    async def keep(self, number: int) -> Sequence[str]:
        """Bring an agent's changes into the user's folder, and its last reply into the window; the
        files that changed. Raises `ToolError`, `JournalError`."""
        self._check_idle()
        child = self._racer(number)
        if self._children.end(number) is None:
            raise ToolError(f"Agent a{number} is still running.")
        if kept := self.kept(child.race):
            raise ToolError(f"The work of agent a{kept} has already been kept.")
        files = await self._work.wait_for(lambda: asyncio.shield(self._keep(child)))
        return files or ()

    async def bring(self, number: int, n: int) -> int:
        """Put item `n` of an agent into the window; its number there. Raises `ToolError`,
        `JournalError`."""
        self._check_idle()
        items = await self._children.items(number)
        item = next((item for item in items if item.n == n), None)
        if item is None:
            raise ToolError(f"Agent a{number} has no item #{n}.")
        what = f"{item.kind.replace('_', ' ')} {one_line(item.name or '')}".rstrip()
        head = f"[item {n} of agent a{number}, {what}; the user brought it over]\n"
        brought = Item(
            n=0,
            kind="context",
            content=head + item.content,
            detail={
                "act": "agent",
                "title": f"a{number}#{n}",
                "ok": True,
                "host": [[0, len(head)]],
            },
        )
        return (await self._record.put(brought)).n

    async def remove(self, number: int) -> None:
        """Remove an agent's folder; its session stays. Raises `ToolError`."""
        child = self._racer(number)
        if self._children.end(number) is None:
            raise ToolError(f"Agent a{number} is still running.")
        await self._there().remove(child.worktree, self._base(child.race))

    # Within

    def _there(self) -> RaceFolders:
        if self._folders is None:
            raise ToolError("Races are not available here.")
        return self._folders

    def _check_idle(self) -> None:
        if self._record.journal.read_only:
            raise ToolError(READ_ONLY)
        if self._work.busy:
            raise ToolError(BUSY)

    def _racer(self, number: int) -> ChildStarted:
        child = self._record.state.children.get(number)
        if child is None or not child.race:
            raise ToolError(f"Agent a{number} is not in a race.")
        return child

    def _base(self, race: int) -> Base:
        began = self._record.state.races[race]
        return Base(began.apart, began.tree, self._record.journal.folder / STORE)

    async def _ran(self, child: ChildStarted) -> Sequence[Ran]:
        try:
            events = past.own_events(await self._children.events(child))
        except JournalError:  # it has not begun, or its rollout is lost
            return ()
        details = [event.data.item.detail for event in events if isinstance(event.data, ItemAdded)]
        return [
            Ran(command, detail.get("exit_code"))
            for detail in details
            if "exit_code" in detail and isinstance(command := detail.get("command"), str)
        ]

    async def _test(self, child: ChildStarted, command: str) -> tuple[int | None, str]:
        from pinfold.tools.shell import ShellTool  # pydantic comes with it

        try:
            folder = await self._there().find(child.worktree, self._base(child.race))
            if folder is None:
                return None, "Its folder is gone."
            sandbox = self._confinement.of(self._consent.mode)
            if sandbox is not None:
                sandbox = replace(sandbox, roots=(folder, *sandbox.roots[1:]))
            context = ToolContext(
                folder,
                self._record.journal.folder,
                f"race-{child.race}-a{child.child}",
                lambda _: None,
                sandbox=sandbox,
            )
            arguments = json.dumps({"command": command, "timeout": TIMEOUT})
            outcome = await ShellTool().run(arguments, context)
        except ToolError as error:
            return None, str(error)
        return outcome.detail.get("exit_code"), outcome.output

    async def _keep(self, child: ChildStarted) -> Sequence[str]:
        session = self._record.journal.folder
        seen = await self._there().take(
            child.worktree, self._base(child.race), lambda path: workspace.save(path, session)
        )
        files = tuple(one.uri for one in seen)
        state = self._record.state
        end, prompt = state.finished[child.child], state.races[child.race].prompt
        others = len(self.racers(child.race))
        head = (
            f"The user had {others} agents work on the prompt below, each in a copy of the folder, "
            f"and kept the work of {child_name(child)}. The files that it changed are now changed "
            f"in the working directory.\n{self._children.summary(child.child)}\nThe prompt:\n"
        )
        reply = "\nIts last reply:\n"
        content = head + prompt + reply + (end.answer or NOTHING)
        after = len(head + prompt)
        item = Item(
            n=0,
            kind="context",
            content=content,
            detail={
                CHILD: child.child,
                "act": "agent",
                "title": f"task {one_line(child.description)}",
                "ok": end.state == "done",
                "words": "\n\n".join(provenance.typed_in(prompt, provenance.guess(prompt))),
                "host": [[0, len(head)], [after, after + len(reply)]],
            },
        )
        kept = RaceKept(race=child.race, child=child.child, files=files)
        await self._record.put(item, lambda n: [*(observed(one, n) for one in seen), kept])
        return files


async def _made(folders: RaceFolders, base: Base, name: str) -> Path:
    return await folders.make(name, base)

"""The host: opens, forks, adopts and closes sessions, for every face."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.host.app_context import AppContext
from pinfold.host.first_frame import Frames
from pinfold.trust import trust

if TYPE_CHECKING:
    from pinfold.adopt.foreign_list import ForeignSession
    from pinfold.agent.requests.connection import Connection
    from pinfold.agent.session import Session
    from pinfold.catalog.catalog import Catalog
    from pinfold.compaction.view import PlanOptions
    from pinfold.host.memories import Memories
    from pinfold.host.model_list import ModelLine
    from pinfold.ports.approver import Approver
    from pinfold.ports.tool import Tool
    from pinfold.rollout.journal import Journal
    from pinfold.tokens.prices import Price

# What opens a session is imported when one is opened: after the first paint.


class Host:
    """What is outside a session. Methods that are not `async` block: call them in a thread.

    Opening a session raises `ProviderError`, `JournalError`, `SessionHeld`, `SettingsError`.
    """

    def __init__(self, ctx: AppContext, *, attended: bool = True) -> None:
        """Without `attended` nobody can be asked, and nothing runs in the background."""
        self._ctx = ctx
        self._attended = attended
        self._sessions: dict[str, Session] = {}
        self._warming: set[asyncio.Task[None]] = set()
        self._background: dict[str, asyncio.Task[None]] = {}
        """By module."""

    # Opening

    async def new(self, approver: Approver, source: str = "shell") -> Session:
        from pinfold.host.sessions import new_journal

        # Settings may have changed, the folder may be trusted by now.
        ctx = await asyncio.to_thread(self._ctx.in_folder, self._ctx.cwd)
        return await self.open(approver, lambda: new_journal(ctx, source), ctx=ctx)

    async def resume(self, session_id: str, approver: Approver) -> Session:
        """The session with this id; read-only if another pinfold has it open."""
        from pinfold.rollout.hold import SessionHeld

        folder = await asyncio.to_thread(self._ctx.store.find, session_id)
        try:
            return await self.open_folder(folder, approver)
        except SessionHeld:
            return await self.open_folder(folder, approver, read_only=True)

    async def open_folder(
        self, folder: Path, approver: Approver, *, read_only: bool = False
    ) -> Session:
        """The session in `folder`, with the settings of the folder that it works in."""
        from pinfold.agent.clock import CLOCK
        from pinfold.host.sessions import own_folder
        from pinfold.rollout.journal import Journal

        ctx = await asyncio.to_thread(own_folder, self._ctx, folder)
        return await self.open(
            approver, lambda: Journal.open(folder, CLOCK.now, read_only=read_only), ctx=ctx
        )

    async def fork(self, folder: Path, at: int | None, approver: Approver) -> Session:
        """A copy of the session in `folder` through item `at`; None copies all of it."""
        from pinfold.agent.clock import CLOCK

        store = self._ctx.store
        return await self.open(approver, lambda: store.fork(folder, at, CLOCK.now)[0])

    async def fork_window(self, folder: Path, generation: int, approver: Approver) -> Session:
        """A copy at the window of that generation."""
        from pinfold.agent.clock import CLOCK

        store = self._ctx.store
        return await self.open(approver, lambda: store.fork_window(folder, generation, CLOCK.now))

    async def rewind(self, folder: Path, prompt: int, approver: Approver) -> Session:
        """A copy of the session in `folder` up to before `prompt`."""
        from pinfold.agent.clock import CLOCK

        store = self._ctx.store
        return await self.open(approver, lambda: store.rewind(folder, prompt, CLOCK.now))

    async def hand_on(
        self, folder: Path, strategy: str | None, model: str | None, approver: Approver
    ) -> Session:
        """A compacted copy, on `model` if given. Raises `Refused`."""
        from pinfold.host.handing_on import hand_on

        copy = await hand_on(self._ctx, folder, approver, strategy=strategy, model=model)
        return await self._moved_in(self._ctx, copy)

    async def open(
        self,
        approver: Approver,
        journal: Callable[[], Journal],
        *,
        ctx: AppContext | None = None,
        connection: Connection | None = None,
        tools: Sequence[Tool] | None = None,
    ) -> Session:
        """A session on `journal`; connection and tools are by default those of the settings."""
        from pinfold.host.sessions import open_session

        ctx = ctx or self._ctx
        await asyncio.to_thread(Frames(ctx).forget)
        session = await open_session(
            ctx, approver, journal, connection=connection, tools=tools, attended=self._attended
        )
        return await self._moved_in(ctx, session)

    async def _moved_in(self, ctx: AppContext, session: Session) -> Session:
        await session.move_in()
        self._ctx = ctx  # the folder that `/new` begins in and `/trust` trusts
        self._sessions[session.id] = session
        if self._attended:
            self._prepare(ctx, session)
        return session

    def _prepare(self, ctx: AppContext, session: Session) -> None:
        """Prepare while the user types the first prompt."""
        # The client takes a moment to import.
        task = asyncio.create_task(session.warm())
        self._warming.add(task)
        task.add_done_callback(self._warmed)
        memories = ctx.settings.memories
        if ctx.sessions == ctx.home:  # a replay's are gone with it
            self._begin("finding", "keep_up", task, ctx)
            if ctx.settings.vault.watch:
                self._begin("vault", "watch", task, ctx)
        if memories.enabled and (memories.generate != "off" or memories.team):
            self._begin("remembering", "remember", task, ctx, {session.id})

    def _begin(
        self, module: str, function: str, warmed: asyncio.Task[None], *arguments: object
    ) -> None:
        """Run a function of a module of `host` in the background, unless it was begun before."""

        async def work() -> None:
            await asyncio.wait([warmed])
            loaded = await asyncio.to_thread(import_module, f"pinfold.host.{module}")
            await getattr(loaded, function)(*arguments)

        if module not in self._background:
            self._background[module] = asyncio.create_task(work())
            self._background[module].add_done_callback(_show_failure)

    def _warmed(self, task: asyncio.Task[None]) -> None:
        self._warming.discard(task)
        # The client and the session stay: searching them for garbage takes a tenth of a second.
        gc.freeze()

    # Closing

    async def close(self, session: Session) -> None:
        """Interrupt what runs in it and release it."""
        self._sessions.pop(session.id, None)
        await session.close()

    async def stop(self) -> None:
        """Close open sessions, end background work."""
        for task in self._background.values():
            task.cancel()
        if self._background:
            await asyncio.wait(self._background.values())
        for session in tuple(self._sessions.values()):
            await self.close(session)

    # What there is

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings on the settings of the session opened last."""
        return self._ctx.loaded.warnings

    @property
    def catalog(self) -> Catalog:
        """All sessions, to list and to search."""
        from pinfold.host.finding import catalog

        return catalog(self._ctx)

    def models(self, connection: Connection, prices: Mapping[str, Price]) -> Iterator[ModelLine]:
        """The models to choose from; asks the provider."""
        from pinfold.host.model_list import model_lines

        return model_lines(self._ctx, connection, prices)

    def adoptable(self) -> Iterator[ForeignSession]:
        """The sessions of other tools here, newest first, each as soon as it is read."""
        from pinfold.host.adopting import adoptable

        return adoptable(self._ctx)

    def adopt(self, file: Path, *, its_folder: bool = False) -> tuple[str, str]:
        """Its new id, and what was adopted, in a line; see `adopting.adopt`."""
        from pinfold.host.adopting import adopt

        adopted = adopt(self._ctx, file, its_folder=its_folder)
        return adopted.folder.name, adopted.said

    def save_compact(self, strategy: str, options: PlanOptions) -> str:
        """Save the user's defaults; returns a sentence. Raises `SettingsError`."""
        from pinfold.host.defaults import save

        return save(self._ctx, strategy, options)

    @property
    def statusline(self) -> str:
        """The command that writes the status line, from the present settings; empty: none."""
        return self._ctx.in_folder(self._ctx.cwd).settings.ui.statusline

    def save_statusline(self, command: str) -> str:
        """Save the user's command; returns a sentence. Raises `SettingsError`."""
        from pinfold.host.defaults import write

        return write(self._ctx, "ui", {"statusline": command})

    @property
    def memories(self) -> Memories:
        from pinfold.host.memories import Memories

        return Memories(self._ctx)

    def doctor(self) -> str:
        """The report of `pinfold doctor`."""
        from pinfold.host.doctor import report

        return asyncio.run(report(self._ctx))

    def trust(self) -> str:
        """Trust the working directory; returns a sentence on what that changes."""
        folder = paths.project_config(self._ctx.cwd).parent.parent
        trust(self._ctx.home, folder)
        return (
            f"{paths.shown(folder)} is trusted. "
            "Its config file applies in full from the next session: /new."
        )


def _show_failure(task: asyncio.Task[None]) -> None:
    """Show why work in the background failed."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler({"message": str(error), "exception": error})

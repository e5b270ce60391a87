"""Running the screen."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.atomic_files import write_atomic
from pinfold.small_files import read_text
from pinfold.trust import trust
from pinfold.wiring.app_context import AppContext

if TYPE_CHECKING:
    from pinfold.agent.session import Session
    from pinfold.commands.context import ForeignLine, SessionLine, Start
    from pinfold.compaction.view import PlanOptions
    from pinfold.ports import Approver
    from pinfold.rollout.journal import Journal
    from pinfold.rollout.texts import Texts
    from pinfold.wiring.memories import Memories

CHOSEN_THEME = "theme"
"""The file in pinfold's home that holds the last choice of `/theme`."""

Remember = Callable[["AppContext", Collection[str]], Awaitable[object]]

FRAMES_PER_SECOND = 250
"""The most that Textual may paint; it paints only what changed."""

# What opens a session is imported when one is opened: after the first paint.


class Sessions:
    """`commands.context.Host`: what the screen's commands reach beyond their session."""

    def __init__(self, ctx: AppContext) -> None:
        self._ctx = ctx
        self._warming: set[asyncio.Task[None]] = set()
        self._remembering: asyncio.Task[None] | None = None
        """Makes memories of earlier sessions, in the background."""

    async def new(self, approver: Approver) -> Session:
        from pinfold.wiring.sessions import new_journal

        # A wrong setting may have been mended meanwhile, the folder trusted.
        ctx = await asyncio.to_thread(self._ctx.in_folder, self._ctx.cwd)
        return await self._open(ctx, approver, lambda: new_journal(ctx))

    async def resume(self, session_id: str, approver: Approver) -> Session:
        from pinfold.rollout.hold import SessionHeld

        folder = await asyncio.to_thread(self._ctx.store.find, session_id)
        try:
            return await self.open_folder(folder, approver)
        except SessionHeld:
            return await self.open_folder(folder, approver, read_only=True)

    async def open_folder(
        self, folder: Path, approver: Approver, *, read_only: bool = False
    ) -> Session:
        """The session in `folder`, in the folder that it works in. Raises `SessionHeld`."""
        from pinfold.agent.clock import CLOCK
        from pinfold.rollout.journal import Journal
        from pinfold.wiring.sessions import own_folder

        ctx = await asyncio.to_thread(own_folder, self._ctx, folder)
        return await self._open(
            ctx, approver, lambda: Journal.open(folder, CLOCK.now, read_only=read_only)
        )

    async def fork(self, session: Session, at: int | None, approver: Approver) -> Session:
        return await self.fork_folder(session.folder, at, approver)

    async def fork_folder(self, folder: Path, at: int | None, approver: Approver) -> Session:
        from pinfold.agent.clock import CLOCK

        return await self._open(
            self._ctx, approver, lambda: self._ctx.store.fork(folder, at, CLOCK.now)[0]
        )

    async def fork_window(self, session: Session, generation: int, approver: Approver) -> Session:
        from pinfold.agent.clock import CLOCK

        folder = session.folder
        return await self._open(
            self._ctx, approver, lambda: self._ctx.store.fork_window(folder, generation, CLOCK.now)
        )

    async def hand_on(
        self, session: Session, strategy: str | None, model: str | None, approver: Approver
    ) -> Session:
        from pinfold.wiring.handing_on import hand_on

        copy = await hand_on(self._ctx, session.folder, approver, strategy=strategy, model=model)
        return await self._moved_in(self._ctx, copy)

    async def rewind(self, session: Session, prompt: int, approver: Approver) -> Session:
        from pinfold.agent.clock import CLOCK

        folder = session.folder
        return await self._open(
            self._ctx, approver, lambda: self._ctx.store.rewind(folder, prompt, CLOCK.now)
        )

    async def _open(
        self, ctx: AppContext, approver: Approver, journal: Callable[[], Journal]
    ) -> Session:
        from pinfold.wiring.sessions import open_session

        return await self._moved_in(ctx, await open_session(ctx, approver, journal))

    async def _moved_in(self, ctx: AppContext, session: Session) -> Session:
        await session.move_in()
        self._ctx = ctx  # the folder that `/new` begins in and `/trust` trusts
        # The SDK takes a moment to import: begin now, the first prompt is still being typed.
        task = asyncio.create_task(session.warm())
        self._warming.add(task)
        task.add_done_callback(self._warmed)
        memories = ctx.settings.memories
        if memories.enabled and memories.generate != "off" and self._remembering is None:
            self._remembering = asyncio.create_task(self._remember(ctx, session.id, task))
            self._remembering.add_done_callback(_show_failure)
        return session

    async def _remember(self, ctx: AppContext, session: str, warmed: asyncio.Task[None]) -> None:
        """Once in the life of the screen; when that ends, this is cancelled."""
        await asyncio.wait([warmed])
        remember = await asyncio.to_thread(_import_remember)
        await remember(ctx, {session})

    async def stop(self) -> None:
        """End what runs in the background."""
        if self._remembering is not None:
            self._remembering.cancel()
            await asyncio.wait([self._remembering])

    def _warmed(self, task: asyncio.Task[None]) -> None:
        self._warming.discard(task)
        # The SDK and the session stay. To look for garbage in them takes a tenth of a second.
        gc.freeze()

    def sessions(self) -> Sequence[SessionLine]:
        return self._ctx.store.list()

    @property
    def warnings(self) -> Sequence[str]:
        return self._ctx.loaded.warnings

    @property
    def texts(self) -> Texts:
        from pinfold.rollout.texts import Texts

        return Texts(self._ctx.home)

    def adoptable(self) -> Iterator[ForeignLine]:
        from pinfold.wiring.adopting import adoptable

        return adoptable(self._ctx)

    def adopt(self, file: Path, *, its_folder: bool = False) -> tuple[str, str]:
        from pinfold.wiring.adopting import adopt

        adopted = adopt(self._ctx, file, its_folder=its_folder)
        return adopted.folder.name, adopted.said

    def save_compact(self, strategy: str, options: PlanOptions) -> str:
        from pinfold.wiring.defaults import save

        return save(self._ctx, strategy, options)

    @property
    def memories(self) -> Memories:
        from pinfold.wiring.memories import Memories

        return Memories(self._ctx)

    def doctor(self) -> str:
        from pinfold.wiring.report import report

        return asyncio.run(report(self._ctx))

    def trust(self) -> str:
        folder = paths.project_config(self._ctx.cwd).parent.parent
        trust(self._ctx.home, folder)
        return (
            f"{paths.shown(folder)} is trusted. "
            "Its config file counts in full from the next session on: /new."
        )


def run(
    ctx: AppContext,
    start: Start,
    host: Sessions,
    *,
    kept: bool = True,
    adopting: str | None = None,
    choosing: bool = False,
) -> int:
    """Show the screen until the user leaves it. Returns the exit code.

    What `kept` is false for is not there to be resumed, so nothing is said of it at the end.
    With `adopting`, the list of what can be adopted stands open, searched for that; with
    `choosing`, the user chooses a session first, and `start` is for when they don't.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("pinfold: the screen needs a terminal; try `pinfold exec`.", file=sys.stderr)
        return 1

    async def chosen_first() -> str | None:
        from pinfold.tui.panels.sessions import choose_session

        return await choose_session(app, ctx.cwd)

    async def painted(approver: Approver) -> Session:
        gc.freeze()
        gc.enable()
        await asyncio.to_thread(_make_ready)
        chosen = await chosen_first() if choosing else None
        session = await (start(approver) if chosen is None else host.resume(chosen, approver))
        if adopting is not None:
            app.call_later(app.open, "adoptable", adopting)
        return session

    # What is made until the first paint stays: to look for garbage in it only takes time.
    gc.disable()
    # Textual reads it when imported. A key waits for the next frame; replies keep their own pace.
    os.environ.setdefault("TEXTUAL_FPS", str(FRAMES_PER_SECOND))
    from pinfold.tui.app import PinfoldApp
    from pinfold.tui.screen_config import ScreenConfig

    settings = ctx.settings
    config = ScreenConfig(
        cwd=ctx.cwd,
        history=ctx.home / "history.jsonl",
        errors=ctx.home / "errors.log",
        theme=_theme(ctx),
        notify=ctx.settings.ui.notify,
        title=ctx.settings.ui.title,
        statusline=ctx.settings.ui.statusline,
        vim=ctx.settings.ui.vim,
        theme_folder=paths.config_folder() / "themes",
        keys=settings.keys,
        warnings=ctx.loaded.warnings,
        offer=partial(_offer, ctx) if kept else None,
    )
    app = PinfoldApp(painted, host, config)
    said = app.run()
    if app.theme != config.theme:
        with suppress(OSError):  # the next start has the theme of this one, no more
            write_atomic(ctx.home / CHOSEN_THEME, app.theme.encode())
    if app.failure:
        print(f"pinfold: {app.failure}", file=sys.stderr)
    if said and kept:
        print(said)
    # Where nobody left, it could not begin or not go on.
    return 1 if said is None else app.return_code or 0


def _show_failure(task: asyncio.Task[None]) -> None:
    """Show why work in the background failed."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler({"message": str(error), "exception": error})


def _import_remember() -> Remember:
    from pinfold.wiring.remembering import remember

    return remember


def _offer(ctx: AppContext) -> str:
    from pinfold.wiring.remembering import offer

    return offer(ctx)


def _make_ready() -> None:
    """Import, beside the event loop, what opens a session and what shows it."""
    from pinfold.tui import bridge  # noqa: F401
    from pinfold.wiring import sessions  # noqa: F401


def _theme(ctx: AppContext) -> str:
    """The theme of the settings, else the one that the user chose last."""
    if "ui.theme" not in ctx.loaded.origins:
        with suppress(OSError):
            return read_text(ctx.home / CHOSEN_THEME, 1_000).strip()
    return ctx.settings.ui.theme

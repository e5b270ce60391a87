"""Running the screen."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.atomic_files import write_atomic
from pinfold.host.app_context import AppContext
from pinfold.host.first_frame import Frames
from pinfold.wiring.first import CHOSEN_THEME, theme

if TYPE_CHECKING:
    from pinfold.agent.session import Session
    from pinfold.commands.context import Start
    from pinfold.host.host import Host
    from pinfold.ports.approver import Approver
    from pinfold.rollout.provenance import Prompt
    from pinfold.tui.early_screen import EarlyScreen

FRAMES_PER_SECOND = 250
"""The most that Textual may paint; it paints only what changed."""


def run(
    ctx: AppContext,
    start: Start,
    host: Host,
    *,
    kept: bool = True,
    adopting: str | None = None,
    choosing: bool = False,
    note: str = "",
    prompt: Prompt | None = None,
    early: EarlyScreen | None = None,
) -> int:
    """Show the screen until the user leaves it. Returns the exit code.

    What `kept` is false for is not there to be resumed, so nothing is said of it at the end.
    With `adopting`, the list of what can be adopted stands open, searched for that; with
    `choosing`, the user chooses a session first, and `start` is for when they don't. The
    transcript says `note` first. `prompt` is sent to the first session. The screen takes over from
    `early`, if that shows a frame.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print(
            "pinfold: the screen needs a terminal; for an answer without it: pinfold -p PROMPT.",
            file=sys.stderr,
        )
        return 1

    import asyncio

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
        theme=theme(ctx),
        notify=ctx.settings.ui.notify,
        title=ctx.settings.ui.title,
        statusline=ctx.settings.ui.statusline,
        vim=ctx.settings.ui.vim,
        theme_folder=paths.config_folder() / "themes",
        keys=settings.keys,
        warnings=ctx.loaded.warnings,
        note=note,
        prompt=prompt,
        offer=partial(_offer, ctx) if kept else None,
    )
    app = PinfoldApp(painted, host, config)
    app.chooses_first = choosing
    if kept:
        app.frames = Frames(ctx)
    if early is not None and early.is_shown:
        app.take_over(early)
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


def _offer(ctx: AppContext) -> str:
    from pinfold.host.memories_offer import offer

    return offer(ctx)


def _make_ready() -> None:
    """Import, beside the event loop, what opens a session and what shows it."""
    from pinfold.host import sessions  # noqa: F401
    from pinfold.tui import bridge  # noqa: F401

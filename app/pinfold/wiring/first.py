"""Painting the first frame, before anything heavy is imported."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pinfold.host.app_context import AppContext
from pinfold.host.first_frame import Frames
from pinfold.small_files import read_text

if TYPE_CHECKING:
    from pinfold.tui.early_screen import EarlyScreen

CHOSEN_THEME = "theme"
"""The file in pinfold's home that holds the last choice of `/theme`."""


@contextmanager
def first_frame(ctx: AppContext, session: str | None) -> "Iterator[EarlyScreen | None]":
    """Show the frame of a new session, or of the one whose id begins with `session`, if it is
    known; the terminal is given back where the screen does not take it over."""
    early = _early_screen(ctx, session)
    if early is None:
        yield None
        return
    try:
        early.show()
        yield early
    finally:
        early.leave()


def _early_screen(ctx: AppContext, session: str | None) -> "EarlyScreen | None":
    from pinfold.tui.early_screen import EarlyScreen, terminal

    if (fds := terminal()) is None or os.environ.keys() & {"COLUMNS", "LINES"}:
        return None
    frames = Frames(ctx)
    with suppress(OSError):
        made_for = frames.made_for(*os.get_terminal_size(fds[1]), theme(ctx))
        if frame := frames.load(made_for, session):
            return EarlyScreen(frame, *fds)
    return None


def theme(ctx: AppContext) -> str:
    """The theme of the settings, else the one that the user chose last."""
    if "ui.theme" not in ctx.loaded.origins:
        with suppress(OSError):
            return read_text(ctx.home / CHOSEN_THEME, 1_000).strip()
    return ctx.settings.ui.theme

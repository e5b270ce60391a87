"""Opens panels above the screen."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, assert_never

from pinfold.commands.context import Panel, SessionLine
from pinfold.sanitize import one_line
from pinfold.tui.panels.picker import Choice, Picker

if TYPE_CHECKING:
    from pinfold.tui.app import PinfoldApp


def open_panel(app: "PinfoldApp", keys: Mapping[str, str], panel: Panel) -> None:
    """Put `panel` on top."""
    match panel:
        case "help":
            from pinfold.tui.panels.help import HelpPanel

            app.push_screen(HelpPanel(keys))
        case "palette":
            from textual.command import CommandPalette

            app.push_screen(CommandPalette(placeholder="What would you like to do?"))
        case "themes":
            _pick_theme(app)
        case "sessions":
            app.attempt(_pick_session(app))
        case _:
            assert_never(panel)


def _pick_theme(app: "PinfoldApp") -> None:
    before = app.theme

    def done(name: str | None) -> None:
        app.set_theme(name or before)

    choices = [Choice(name, name) for name in app.themes]
    picker = Picker("Theme", choices, chosen=before, preview=app.set_theme)
    app.push_screen(picker, done)


async def _pick_session(app: "PinfoldApp") -> None:
    lines = await asyncio.to_thread(app.host.sessions)
    choices = [_choice(line) for line in lines if line.title]
    picker = Picker("Sessions", choices, empty="There are no earlier sessions.")
    chosen = await app.push_screen_wait(picker)
    if chosen is not None:
        await app.switch(partial(app.host.resume, chosen))


def _choice(line: SessionLine) -> Choice:
    turns = f"{line.turns} turn{'s' if line.turns != 1 else ''}"
    used = f"{line.updated_at.astimezone():%Y-%m-%d %H:%M}"
    facts = " · ".join(part for part in (used, turns, line.model, line.note) if part)
    return Choice(line.id, one_line(line.title), one_line(facts))

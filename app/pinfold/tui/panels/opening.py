"""Opens panels above the screen."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, assert_never

from textual.app import App

from pinfold.commands.context import Context, Panel, SessionLine
from pinfold.sanitize import one_line
from pinfold.tui.panels.picker import Choice, Picker


def open_panel(app: App[Any], context: Context, keys: Mapping[str, str], panel: Panel) -> None:
    """Put `panel` on top."""
    match panel:
        case "help":
            from pinfold.tui.panels.help import HelpPanel

            app.push_screen(HelpPanel(keys))
        case "palette":
            from textual.command import CommandPalette

            app.push_screen(CommandPalette(placeholder="What would you like to do?"))
        case "themes":
            _pick_theme(app, context)
        case "sessions":
            app.run_worker(_pick_session(app, context))
        case _:
            assert_never(panel)


def _pick_theme(app: App[Any], context: Context) -> None:
    before = app.theme

    def done(name: str | None) -> None:
        context.set_theme(name or before)

    choices = [Choice(name, name) for name in context.themes]
    picker = Picker("Theme", choices, chosen=before, preview=context.set_theme)
    app.push_screen(picker, done)


async def _pick_session(app: App[Any], context: Context) -> None:
    lines = await asyncio.to_thread(context.host.sessions)
    choices = [_choice(line) for line in lines if line.title]
    picker = Picker("Sessions", choices, empty="There are no earlier sessions.")
    chosen = await app.push_screen_wait(picker)
    if chosen is not None:
        app.run_worker(context.switch(partial(context.host.resume, chosen)))


def _choice(line: SessionLine) -> Choice:
    turns = f"{line.turns} turn{'s' if line.turns != 1 else ''}"
    facts = " · ".join(part for part in (turns, line.model, line.note) if part)
    return Choice(line.id, one_line(line.title), one_line(facts))

"""Opens panels above the screen."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from pinfold.commands.context import ForeignLine, Panel
from pinfold.commands.context_text import age
from pinfold.commands.history import fork
from pinfold.commands.session import take
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.picker import Choice, Picker
from pinfold.tui.panels.stage import Stage

if TYPE_CHECKING:
    from pinfold.compaction.view import PlanOptions


def warm() -> None:
    """Import, in a thread, the panels that have most to do when they open."""
    from pinfold.tui.panels import context, preview  # noqa: F401


def open_panel(app: Stage, keys: Mapping[str, str], panel: Panel, search: str = "") -> None:
    """Put `panel` on top."""
    match panel:
        case "help":
            from pinfold.tui.panels.help import HelpPanel

            app.push_screen(HelpPanel(keys))
        case "palette":
            from pinfold.tui.panels.palette import Palette

            app.push_screen(Palette(placeholder="What would you like to do?"))
        case "context":
            _open_context(app, keys)
        case "checkpoint":
            from pinfold.tui.panels.checkpoint import CheckpointPanel

            app.push_screen(CheckpointPanel(app.session, keys))
        case "core":
            from pinfold.tui.panels.core import CorePanel

            app.push_screen(CorePanel(app.session, keys))
        case "history":
            app.attempt(_look_at_history(app, keys))
        case "lost":
            from pinfold.tui.panels.lost import LostPanel

            app.push_screen(LostPanel(app.session, int(search)))
        case "memories":
            from pinfold.tui.panels.memories import MemoriesPanel

            app.push_screen(MemoriesPanel(app.session, app.host.memories, keys))
        case "clear_memories":
            app.attempt(_clear_memories(app))
        case "memory_source":
            app.attempt(_show_memory_source(app))
        case "eval":
            from pinfold.tui.panels.eval import EvalPanel

            app.push_screen(EvalPanel(app.session, keys), partial(_preview, app))
        case "themes":
            _pick_theme(app)
        case "sessions":
            app.attempt(_pick_session(app))
        case "rewind":
            app.attempt(_rewind(app, search))
        case "adoptable":
            app.attempt(_pick_adoptable(app, search))
        case _:
            assert_never(panel)


def _open_context(app: Stage, keys: Mapping[str, str]) -> None:
    from pinfold.tui.panels.context import ContextPanel

    # The panel shows the gauge too, which opens it.
    if not isinstance(app.screen, ContextPanel):
        app.push_screen(ContextPanel(app.session, keys))


async def _look_at_history(app: Stage, keys: Mapping[str, str]) -> None:
    from pinfold.tui.panels.history import HistoryPanel

    chosen = await app.push_screen_wait(HistoryPanel(app.session, keys))
    if chosen is not None:
        await fork(app, chosen)


async def _clear_memories(app: Stage) -> None:
    from pinfold.tui.panels.ask import AskPanel

    question = (
        "Remove every memory, every record and every copy of them? Sessions stay, and memories "
        "can be made of them again, but for those that you had forgotten."
    )
    if await app.push_screen_wait(AskPanel(question, "removes them")):
        app.tell(await asyncio.to_thread(app.host.memories.keeper.clear))


async def _show_memory_source(app: Stage) -> None:
    from pinfold.commands.memories import cited, source_page
    from pinfold.tui.panels.item import ItemPanel

    cites = cited(app.session)
    app.push_screen(
        ItemPanel(*source_page(await asyncio.to_thread(app.host.memories.keeper.sources, cites)))
    )


def _preview(app: Stage, wish: "tuple[str, PlanOptions] | None") -> None:
    if wish is not None:
        app.preview(*wish)


def _pick_theme(app: Stage) -> None:
    before = app.theme

    def done(name: str | None) -> None:
        app.set_theme(name or before)

    choices = [Choice(name, name) for name in app.themes]
    picker = Picker("Theme", choices, chosen=before, preview=app.set_theme)
    app.push_screen(picker, done)


async def _pick_session(app: Stage) -> None:
    chosen = await choose_session(app, app.session.cwd, current=app.session.id)
    if chosen is not None:
        await app.switch(partial(app.host.resume, chosen))


async def choose_session(app: Stage, cwd: Path, *, current: str = "") -> str | None:
    """The id of the session that the user chooses; those of `cwd` come first."""
    from pinfold.tui.panels.sessions import SessionsPanel

    return await app.push_screen_wait(SessionsPanel(app.host, cwd, _now, current=current))


async def _rewind(app: Stage, n: str) -> None:
    from pinfold.tui.panels.rewind import rewind

    await rewind(app, _now, int(n) if n else None)


def _now() -> datetime:
    return datetime.now(UTC)


async def _pick_adoptable(app: Stage, search: str) -> None:
    now = datetime.now(UTC)
    picker = Picker(
        "Adopt a session",
        source=lambda: (_foreign(line, now) for line in app.host.adoptable()),
        empty="Neither Codex nor Claude Code has a session here. /adopt FILE takes any file.",
        search=search,
    )
    chosen = await app.push_screen_wait(picker)
    if chosen is not None:
        await take(app, Path(chosen))


def _foreign(line: ForeignLine, now: datetime) -> Choice:
    used = tokens(line.used) if line.used else ""
    full = "" if line.full is None else f"{line.full:.0%}"
    title = one_line(line.title or line.file.name)
    size = f"{line.size / 1e6:.1f} MB"
    facts = (one_line(Path(line.cwd).name), one_line(line.model), size, one_line(line.note))
    return Choice(
        str(line.file),
        f"{age(line.updated_at, now):>4} {used:>6} {full:>4}  {one_line(line.tool):<6}  {title}",
        " · ".join(fact for fact in facts if fact),
    )

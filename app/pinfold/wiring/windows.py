"""`pinfold history` and `pinfold restore`: earlier windows of a session."""

import argparse
import asyncio
from collections.abc import Iterable
from pathlib import Path

from pinfold import paths
from pinfold.agent.compaction import window_files
from pinfold.commands import history_text
from pinfold.commands.export import Document, Wish, replaced, save
from pinfold.export.redact import redacted_lines
from pinfold.host.app_context import AppContext, WrongUse, app_context
from pinfold.host.sessions import folder_of, own_folder
from pinfold.output import print_bytes, print_json, warn
from pinfold.sanitize import escaped
from pinfold.window.generations import differences, generations, standing
from pinfold.window.window import Window
from pinfold.wiring.compacting import opened
from pinfold.wiring.sources import find


def history(arguments: argparse.Namespace) -> int:
    """List windows, items of one, or differences between two. Raises `Refused`."""
    if arguments.out is not None and arguments.export is None:
        raise WrongUse("--out needs --export: name a window to export")
    source = find(app_context(arguments), arguments)
    window = Window()
    for event in source.events():
        window.step(event)
    if arguments.export is not None:
        folder = source.at if isinstance(source.at, Path) else None
        return _export(window, folder, arguments)
    found, lines = _asked(window, arguments)
    if arguments.json:
        print_json(found)
    else:
        print("\n".join(lines))
    return 0


def _asked(window: Window, arguments: argparse.Namespace) -> tuple[object, Iterable[str]]:
    """The result, as a value and as lines."""
    if arguments.show is not None:
        items = standing(window, arguments.show)
        return items, history_text.standing(items)
    if arguments.diff is not None:
        changes = differences(window, *arguments.diff)
        return changes, history_text.differences(changes)
    found = generations(window)
    return found, history_text.windows(found)


def _export(window: Window, folder: Path | None, arguments: argparse.Namespace) -> int:
    """Write a whole window as JSONL. Raises `Refused`, `CommandError`."""
    generation = window_files.named(arguments.export, window.boundaries, folder)
    lines: Iterable[bytes] = window_files.archived(window, generation)
    secrets = None
    if arguments.redact:
        lines, secrets = redacted_lines(lines)
    text = "".join(f"{line.decode('utf-8', 'replace')}\n" for line in lines)
    made = Document(escaped(text).encode(), "", secrets)
    if arguments.out not in (None, "-"):
        print(save(made, Wish("jsonl", Path(arguments.out)), Path.cwd()))
        return 0
    print_bytes(made.content)
    if secrets:
        warn(replaced(secrets))
    return 0


def restore(arguments: argparse.Namespace) -> int:
    """Restore an earlier window. Raises `Refused`."""
    name: str = arguments.session
    if paths.is_file_name(name):
        raise WrongUse(f"files are never changed; adopt it first: pinfold adopt {name}")
    ctx = app_context(arguments)
    folder = folder_of(ctx, name)
    ctx = own_folder(ctx, folder, else_here=True)
    print(asyncio.run(_restored(ctx, folder, arguments.window)))
    return 0


async def _restored(ctx: AppContext, folder: Path, name: str) -> str:
    async with opened(ctx, folder) as session:
        generation = window_files.named(name, session.window.boundaries, folder)
        said = await session.window.restore(generation)
        return f"{said} {history_text.fits(session.reading())}"

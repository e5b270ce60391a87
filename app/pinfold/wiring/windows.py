"""`pinfold history` and `pinfold restore`: earlier windows of a session."""

import argparse
import asyncio
from collections.abc import Iterable
from pathlib import Path

from pinfold import paths
from pinfold.agent import window_files
from pinfold.commands import history_text
from pinfold.output import print_json
from pinfold.window.generations import differences, generations, standing
from pinfold.window.window import Window
from pinfold.wiring.compacting import opened
from pinfold.wiring.house import House, WrongUse, house
from pinfold.wiring.sessions import folder_of, own_folder
from pinfold.wiring.sources import find


def history(arguments: argparse.Namespace) -> int:
    """List the windows, the items of one, or what differs between two. Raises `Refused`."""
    window = Window()
    for event in find(house(arguments), arguments).events():
        window.step(event)
    found, lines = _asked(window, arguments)
    if arguments.json:
        print_json(found)
    else:
        print("\n".join(lines))
    return 0


def _asked(window: Window, arguments: argparse.Namespace) -> tuple[object, Iterable[str]]:
    """What was asked for, as a value and as lines."""
    if arguments.show is not None:
        items = standing(window, arguments.show)
        return items, history_text.standing(items)
    if arguments.diff is not None:
        changes = differences(window, *arguments.diff)
        return changes, history_text.differences(changes)
    found = generations(window)
    return found, history_text.windows(found)


def restore(arguments: argparse.Namespace) -> int:
    """Bring an earlier window back. Raises `Refused`."""
    name: str = arguments.session
    if paths.is_file_name(name):
        raise WrongUse(f"a file is not written to; adopt it first: pinfold adopt {name}")
    at = house(arguments)
    folder = folder_of(at, name)
    generation = window_files.named(folder, arguments.window)
    print(asyncio.run(_restored(own_folder(at, folder, else_here=True), folder, generation)))
    return 0


async def _restored(at: House, folder: Path, generation: int) -> str:
    async with opened(at, folder) as session:
        said = await session.window.restore(generation)
        return f"{said} {history_text.fits(session.reading())}"

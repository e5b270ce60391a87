"""`pinfold history` and `pinfold restore`: earlier windows of a session."""

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec

from pinfold import paths
from pinfold.agent import window_files
from pinfold.commands import history_text
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
    for line in _lines(window, arguments):
        print(line)
    return 0


def _lines(window: Window, arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.show is not None:
        items = standing(window, arguments.show)
        yield from [_json(items)] if arguments.json else history_text.standing(items)
    elif arguments.diff is not None:
        changes = differences(window, *arguments.diff)
        yield from [_json(changes)] if arguments.json else history_text.differences(changes)
    else:
        found = generations(window)
        yield from [_json(found)] if arguments.json else history_text.windows(found)


def _json(found: object) -> str:
    return msgspec.json.encode(found).decode()


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

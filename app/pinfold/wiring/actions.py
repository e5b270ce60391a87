"""What each command of the command line does. Each returns the exit code."""

import argparse
import asyncio
import sys
from functools import partial
from pathlib import Path

from pinfold.ports import ProviderError
from pinfold.rollout.journal import JournalError, SessionHeld
from pinfold.settings import SettingsError
from pinfold.wiring.house import House, WrongUse, house

FAILURES = (SettingsError, JournalError, SessionHeld, ProviderError, OSError)
"""What ends a command with one plain line."""


def shell(arguments: argparse.Namespace) -> int:
    from pinfold.wiring.screen import Sessions, run

    at = house(arguments)
    host = Sessions(at)
    return run(at, host.new, host)


def resume(arguments: argparse.Namespace) -> int:
    from pinfold.wiring.screen import Sessions, run
    from pinfold.wiring.sessions import folder_of

    at = house(arguments)
    folder = folder_of(at, None if arguments.last else arguments.session)
    host = Sessions(at)
    how = _how_to_open(arguments, folder)
    if how == "fork":
        return run(at, partial(host.fork_folder, folder, None), host)
    if how == "quit":
        return 0
    return run(at, partial(host.open_folder, folder, read_only=how == "read-only"), host)


def _how_to_open(arguments: argparse.Namespace, folder: Path) -> str:
    """`write`, `read-only`, `fork` or `quit`. Raises `SessionHeld` where nobody can be asked."""
    from pinfold.rollout.journal import Journal
    from pinfold.wiring.sessions import CLOCK

    if arguments.read_only or arguments.fork:
        return "fork" if arguments.fork else "read-only"
    try:
        Journal.open(folder, CLOCK.now).close()
    except SessionHeld as held:
        if not sys.stdin.isatty():
            raise
        print(held)
        answer = input("Open it [r]ead-only, [f]ork it, or [q]uit? ").strip().lower()[:1]
        return {"r": "read-only", "f": "fork"}.get(answer, "quit")
    return "write"


def exec_(arguments: argparse.Namespace) -> int:
    prompt = arguments.prompt
    if prompt in (None, "-"):
        if sys.stdin.isatty():
            raise WrongUse("exec needs a prompt, as an argument or on stdin")
        prompt = sys.stdin.read()
    if not prompt.strip():
        raise WrongUse("the prompt is empty")
    return asyncio.run(_exec(house(arguments), arguments, prompt))


async def _exec(at: House, arguments: argparse.Namespace, prompt: str) -> int:
    import signal

    from pinfold import headless
    from pinfold.rollout.journal import Journal
    from pinfold.wiring.sessions import CLOCK, folder_of, new_journal, open_session, own_folder

    if arguments.session or arguments.last:
        folder = folder_of(at, arguments.session)
        at = own_folder(at, folder)
        journal = partial(Journal.open, folder, CLOCK.now)
    else:
        journal = partial(new_journal, at)
    session = await open_session(at, headless.no_terminal, journal)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, session.interrupt)
    try:
        return await headless.run(session, prompt, as_json=arguments.json)
    finally:
        await session.close()


def sessions(arguments: argparse.Namespace) -> int:
    import msgspec

    at = house(arguments)
    found = at.store.list(arguments.limit)
    if arguments.json:
        for each in found:
            print(msgspec.json.encode(each, enc_hook=str).decode())
        return 0
    if not found:
        print("No sessions yet. Begin one with: pinfold")
        return 0
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from pinfold.sanitize import clean

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("session", "used", "turns", "tokens", "model", "title"):
        table.add_column(name, justify="right" if name in ("turns", "tokens") else "left")
    for each in found:
        table.add_row(
            each.id[:13],
            f"{each.updated_at.astimezone():%Y-%m-%d %H:%M}",
            str(each.turns),
            f"{each.tokens:,}",
            Text(clean(each.model)),
            Text(clean(each.title or each.note or "(no prompt yet)"), overflow="ellipsis"),
        )
    Console().print(table)
    return 0


def export(arguments: argparse.Namespace) -> int:
    from pinfold.wiring.sessions import CLOCK, folder_of

    at = house(arguments)
    folder = folder_of(at, arguments.session)
    if arguments.output:
        at.store.export(folder, arguments.output, CLOCK.now)
        return 0
    from pinfold.rollout.journal import Journal

    with Journal.open(folder, CLOCK.now, read_only=True) as journal:
        for line in journal.lines():
            sys.stdout.buffer.write(line + b"\n")
    return 0


def replay(arguments: argparse.Namespace) -> int:
    return _play(arguments, arguments.file)


def demo(arguments: argparse.Namespace) -> int:
    from pinfold.wiring.replaying import demo_file

    return _play(arguments, demo_file())


def _play(arguments: argparse.Namespace, file: Path) -> int:
    from pinfold.wiring.replaying import Player
    from pinfold.wiring.screen import Sessions, run

    if arguments.speed < 0:
        raise WrongUse("--speed can't be negative")
    at = house(arguments)
    player = Player(at, file, arguments.speed)
    try:
        return run(at, player.start, Sessions(at))
    finally:
        player.close()


def doctor(arguments: argparse.Namespace) -> int:
    from pinfold.wiring.report import report

    print(asyncio.run(report(house(arguments))))
    return 0


def local(arguments: argparse.Namespace) -> int:
    from pinfold.providers.local_setup import run_setup, status

    if arguments.action == "setup":
        return run_setup()
    found = status()
    for name, ok, text in found:
        print(f"{'✓' if ok else '✗'} {name}: {text}")
    return 0 if all(ok for _, ok, _ in found) else 1

"""`pinfold adopt`: going on with a session of another tool, or listing them."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pinfold import paths
from pinfold.adopt import found
from pinfold.adopt.adoption import NotASession
from pinfold.adopt.found import Found
from pinfold.commands.context_text import age
from pinfold.numbers import ID_SHOWN, tokens
from pinfold.output import print_json, print_table
from pinfold.sanitize import one_line
from pinfold.wiring.adopting import adopt, adoptable
from pinfold.wiring.house import House, house
from pinfold.wiring.screen import Sessions, run
from pinfold.wiring.sessions import own_folder


def command(arguments: argparse.Namespace) -> int:
    """`pinfold adopt [FILE|TEXT]`."""
    at = house(arguments)
    text = " ".join(arguments.words)
    opens = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.no_open
    if len(arguments.words) == 1 and paths.is_file_name(text):
        return _adopt(at, paths.typed(text), arguments, opens=opens)
    if opens and not (text or arguments.json):
        return _pick(at, text)
    listed = list(adoptable(at, text))
    if arguments.json:
        _print_json(listed[: arguments.limit])
    elif text and not listed:
        raise NotASession(f"There is no file and no session of Codex or Claude Code like “{text}”.")
    elif text and len(listed) == 1:
        return _adopt(at, listed[0].file, arguments, opens=opens)
    elif opens:
        return _pick(at, text)
    else:
        _print(listed, arguments.limit)
    return 0


def _adopt(at: House, path: Path, arguments: argparse.Namespace, *, opens: bool) -> int:
    folder, said = adopt(at, path, arguments.index, its_folder=arguments.use_its_folder)
    print(said)
    if not opens:
        print(
            f"Session {folder.name}. Go on with: {paths.program()} resume {folder.name[:ID_SHOWN]}"
        )
        return 0
    at = own_folder(at, folder)
    host = Sessions(at)
    return run(at, partial(host.open_folder, folder), host)


def _pick(at: House, search: str) -> int:
    host = Sessions(at)
    return run(at, host.new, host, adopting=search)


def _print_json(listed: Sequence[Found]) -> None:
    import msgspec

    for each in listed:
        told = {**msgspec.structs.asdict(each), "full": each.full}
        print_json(told)


def _print(listed: Sequence[Found], limit: int) -> None:
    if not listed:
        where = " or ".join(paths.shown(place.folder) for place in found.places())
        print(f"There is no session of Codex or Claude Code in {where}.")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("session", "tool", "age", "size", "tokens", "full", "folder", "title"):
        right = heading in ("size", "tokens", "full")
        # The title alone gives way where the terminal is narrow.
        table.add_column(heading, no_wrap=heading != "title", justify="right" if right else "left")
    now = datetime.now(UTC)
    for each in listed[:limit]:
        table.add_row(
            Text(one_line(each.session[:ID_SHOWN])),
            each.tool,
            age(each.updated_at, now),
            f"{each.size / 1e6:.1f}M",
            tokens(each.used) if each.used else "",
            f"{each.full:.0%}" if each.full is not None else "",
            Text(one_line(Path(each.cwd).name)),
            Text(one_line(each.title or each.note), overflow="ellipsis", no_wrap=True),
        )
    print_table(table)
    if len(listed) > limit:
        print(f"Left out: {len(listed) - limit} older ones; -n shows more.")
    print(f"Adopt one with: {paths.program()} adopt SESSION (or a FILE)")

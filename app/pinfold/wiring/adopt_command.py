"""`pinfold adopt`: continues a session of another tool, or lists them."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pinfold import paths
from pinfold.adopt import foreign_list
from pinfold.adopt.adoption import NotASession
from pinfold.adopt.foreign_list import ForeignSession
from pinfold.adopt.formats.registry import BY_NAME, LISTINGS
from pinfold.commands.context_text import age
from pinfold.host.adopting import adopt, adoptable
from pinfold.host.app_context import AppContext, app_context
from pinfold.host.host import Host
from pinfold.host.sessions import own_folder
from pinfold.numbers import ID_SHOWN, tokens
from pinfold.output import print_json, print_rows
from pinfold.sanitize import one_line
from pinfold.wiring.screen import run


def command(arguments: argparse.Namespace) -> int:
    """`pinfold adopt [FILE|TEXT]`."""
    ctx = app_context(arguments)
    text = " ".join(arguments.words)
    opens = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.no_open
    if len(arguments.words) == 1 and paths.is_file_name(text):
        return _adopt(ctx, paths.typed(text), arguments, opens=opens)
    if opens and not (text or arguments.json):
        return _pick(ctx, text)
    listed = list(adoptable(ctx, text))
    if arguments.json:
        _print_json(listed[: arguments.limit])
    elif text and not listed:
        raise NotASession(f"No file and no Codex or Claude Code session matches “{text}”.")
    elif text and len(listed) == 1:
        return _adopt(ctx, listed[0].file, arguments, opens=opens)
    elif opens:
        return _pick(ctx, text)
    else:
        _print(listed, arguments.limit)
    return 0


def _adopt(ctx: AppContext, path: Path, arguments: argparse.Namespace, *, opens: bool) -> int:
    folder, said = adopt(ctx, path, arguments.index, its_folder=arguments.use_its_folder)
    if not opens:
        print(said)
        again = f"{paths.program()} resume {folder.name[:ID_SHOWN]}"
        print(f"Session {folder.name} saved. Resume with: {again}")
        return 0
    ctx = own_folder(ctx, folder)
    host = Host(ctx)
    return run(ctx, partial(host.open_folder, folder), host, note=said)


def _pick(ctx: AppContext, search: str) -> int:
    host = Host(ctx)
    return run(ctx, host.new, host, adopting=search)


def _print_json(listed: Sequence[ForeignSession]) -> None:
    import msgspec

    for hit in listed:
        print_json({**msgspec.structs.asdict(hit), "full": hit.full})


def _print(listed: Sequence[ForeignSession], limit: int) -> None:
    if not listed:
        where = " or ".join(paths.shown(place.folder) for place in foreign_list.tool_folders())
        tools = " or ".join(BY_NAME[tool].title for tool in LISTINGS)
        print(f"No {tools} sessions in {where}.")
        return
    now = datetime.now(UTC)
    rows = (
        (
            one_line(hit.session[:ID_SHOWN]),
            hit.tool,
            age(hit.updated_at, now),
            f"{hit.size / 1e6:.1f}M",
            tokens(hit.used) if hit.used else "",
            f"{hit.full:.0%}" if hit.full is not None else "",
            one_line(Path(hit.cwd).name),
            one_line(hit.title or hit.note),
        )
        for hit in listed[:limit]
    )
    headings = ("session", "tool", "age", "size", "tokens", "full", "folder", "title")
    print_rows(headings, rows, right=("size", "tokens", "full"))
    if len(listed) > limit:
        print(f"Left out: {len(listed) - limit} older ones; -n shows more.")
    print(f"Adopt one with: {paths.program()} adopt SESSION (or a FILE)")

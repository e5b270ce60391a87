"""`pinfold find --in`: in the sessions that are named, of any tool."""

import argparse
import re
import sys
from functools import partial
from itertools import islice

import msgspec
from rich.table import Table
from rich.text import Text

from pinfold.host.app_context import AppContext
from pinfold.host.sessions import folder_of
from pinfold.many.find import items
from pinfold.many.named import named
from pinfold.many.run import outcomes
from pinfold.many.work import SessionWork
from pinfold.output import print_json, print_table
from pinfold.sanitize import one_line
from pinfold.wiring import many


def finds(ctx: AppContext, arguments: argparse.Namespace) -> int:
    """Raises `WrongUse`, `JournalError`, `OSError`."""
    arguments.cluster = arguments.shared = None
    words = re.findall(r"\w+", " ".join(arguments.words))
    sessions = named(arguments.within, partial(folder_of, ctx))
    work = SessionWork("find", {"words": words}, redact=False)
    with many.kept(None, "") as results:
        report = many.worked(arguments, work, sessions, results)
        every = (
            (session, item)
            for session, data in outcomes(report, sessions, results)
            for item in items(data)
        )
        hits = list(islice(every, arguments.limit))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("session", "item"):
        table.add_column(heading, no_wrap=True)
    table.add_column("found")  # gives way alone: its text is cut, not wrapped
    for session, item in hits:
        if arguments.json:
            print_json({"file": session.path, **msgspec.to_builtins(item)})
        piece = Text(one_line(item.piece), overflow="ellipsis", no_wrap=True)
        table.add_row(one_line(session.stem), f"#{item.n}", piece)
    if hits and not arguments.json:
        print_table(table, whole=not sys.stdout.isatty())
    elif not hits and not arguments.json:
        print("Nothing found.")
    return many.code(report) if hits else 1

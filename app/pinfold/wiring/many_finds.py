"""`pinfold find --in`: searches named sessions of any tool."""

import argparse
import re
from functools import partial
from itertools import islice

import msgspec

from pinfold.host.app_context import AppContext
from pinfold.host.sessions import folder_of
from pinfold.many.find import items
from pinfold.many.named import named
from pinfold.many.run import outcomes
from pinfold.many.work import SessionWork
from pinfold.output import print_json, print_rows
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
    if arguments.json:
        for session, item in hits:
            print_json({"file": session.path, **msgspec.to_builtins(item)})
    elif hits:
        rows = ((one_line(hit.stem), f"#{item.n}", one_line(item.piece)) for hit, item in hits)
        print_rows(("session", "item", "found"), rows)
    else:
        print("Nothing found.")
    return many.code(report) if hits else 1

"""`pinfold digest` of many sessions."""

import argparse
from collections.abc import Callable
from pathlib import Path

from pinfold.many.named import named
from pinfold.many.run import outcomes
from pinfold.many.work import SessionWork
from pinfold.output import print_json
from pinfold.sanitize import one_line
from pinfold.wiring import many


def digests(arguments: argparse.Namespace, by_id: Callable[[str | None], Path]) -> int:
    """`by_id` finds a session; without an id, the newest in this folder.

    Raises `WrongUse`, `JournalError`, `OSError`.
    """
    out: Path | None = arguments.out
    words = arguments.sources or [str(by_id(None))]
    sessions = many.outside(out, named(words, by_id))
    settings = {"tokens": arguments.tokens, "json": arguments.json, "index": arguments.index}
    work = SessionWork("digest", settings, arguments.redact)
    with many.kept(out, ".json" if arguments.json else ".txt") as results:
        report = many.worked(arguments, work, sessions, results)
        for session, digest in () if out else outcomes(report, sessions, results):
            if arguments.json:
                print_json(digest)
            else:
                print(f"## {one_line(session.name)}\n\n{digest.decode()}")
    return many.code(report)

"""`pinfold find`: searches the items of all sessions for words."""

import argparse
from collections.abc import Iterator, Sequence

import msgspec
from rich.text import Text

from pinfold.agent.clock import CLOCK
from pinfold.catalog.catalog import Catalog, SearchResult
from pinfold.catalog.searching import COMMON, MATCH, MATCH_END, SearchHit
from pinfold.catalog.sqlite import sqlite3
from pinfold.host.app_context import WrongUse, app_context
from pinfold.host.finding import catalog
from pinfold.numbers import ID_SHOWN
from pinfold.output import end_progress, print_json, print_progress, print_rows, warn
from pinfold.rollout.journal import JournalError
from pinfold.sanitize import clean, one_line


def command(arguments: argparse.Namespace) -> int:
    """Raises `WrongUse`, `JournalError`."""
    typed = " ".join(arguments.words)
    if not any(map(str.isalnum, typed)):
        raise WrongUse("find needs words to search for")
    ctx = app_context(arguments)
    if arguments.within:
        from pinfold.wiring.many_finds import finds

        return finds(ctx, arguments)
    index = catalog(ctx)
    _fill(index)
    try:
        found = index.search(typed, arguments.limit, CLOCK.now())
    except (sqlite3.Error, OSError) as error:
        raise JournalError(f"The index can't be used: {error}.") from error
    if arguments.json:
        for hit in found.hits:
            print_json({**msgspec.to_builtins(hit), "number": hit.number, "piece": plain(hit)})
    elif found.hits:
        _show(found.hits)
    else:
        print("Nothing found.")
    for note in notes(found):
        warn(note)
    return 0 if found.hits else 1


def notes(found: SearchResult) -> Iterator[str]:
    """Sentences on what a search skipped."""
    if found.common:
        words = ", ".join(f"“{one_line(word)}”" for word in found.common)
        yield (
            f"{words} stand{'s' if len(found.common) == 1 else ''} in more than {COMMON:,} "
            f"items: searched among the newest {COMMON:,}."
        )
    if found.unread:
        yield f"{found.unread:,} sessions have not been read yet."


def plain(hit: SearchHit) -> str:
    """The text around a match, without its marks."""
    return hit.piece.replace(MATCH, "").replace(MATCH_END, "")


def _fill(index: Catalog) -> None:
    """Bring the index up to date; Ctrl+C stops that, and what was read so far is searched."""
    try:
        for left in index.fill():
            if left > 0:
                print_progress(f"Reading {left:,} sessions … Ctrl+C searches those read so far")
    except KeyboardInterrupt:
        pass
    finally:
        end_progress()


def _show(hits: Sequence[SearchHit]) -> None:
    rows = (
        (
            one_line(hit.session[:ID_SHOWN]),
            hit.number,
            f"{hit.at.astimezone():%Y-%m-%d}",
            _marked(hit.piece),
        )
        for hit in hits
    )
    print_rows(("session", "item", "date", "found"), rows)


def _marked(piece: str) -> Text:
    shown = Text()
    for part in " ".join(piece.split()).split(MATCH):
        match, end, rest = part.partition(MATCH_END)
        shown.append(clean(match), "bold" if end else "")
        shown.append(clean(rest))
    return shown

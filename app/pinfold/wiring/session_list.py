"""`pinfold sessions`: a line for each session, newest first."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import structs

from pinfold.catalog.catalog import Catalog
from pinfold.commands.context_text import age
from pinfold.host.app_context import AppContext, app_context
from pinfold.host.finding import catalog
from pinfold.numbers import ID_SHOWN
from pinfold.output import print_json, print_rows
from pinfold.paths import program
from pinfold.rollout import disk
from pinfold.rollout.summaries import SessionSummary
from pinfold.sanitize import one_line
from pinfold.tools.workspace import size_text

MODEL_SHOWN = 14
"""Characters of a model's name on a terminal."""


def command(arguments: argparse.Namespace) -> int:
    ctx = app_context(arguments)
    index = catalog(ctx)
    try:
        return _list(ctx, index, arguments)
    finally:
        sys.stdout.flush()
        index.check()  # the next list knows what this one had no time to read


def _list(ctx: AppContext, index: Catalog, arguments: argparse.Namespace) -> int:
    if arguments.json:
        for summary in index.list(arguments.limit)[: arguments.limit]:
            print_json(_sized(summary) if arguments.size else summary)
        return 0
    every = index.list(arguments.limit)
    found = [summary for summary in every if summary.title or summary.note]
    if not found:
        print(f"No sessions yet. Start one with: {program()}")
        return 0
    if arguments.size:
        _show_sizes(found)
        every_byte = disk.together(disk.folders(ctx.sessions))
        print(f"All sessions together: {size_text(every_byte)}; what forks share counts once.")
    else:
        _show(found)
    if unused := len(every) - len(found):
        print(f"Not shown: {unused} without a prompt.")
    return 0


def _sized(summary: SessionSummary) -> dict[str, object]:
    size = disk.size_of(summary.folder)
    return {**structs.asdict(summary), "disk": {**structs.asdict(size), "total": size.total}}


def _show_sizes(found: Sequence[SessionSummary]) -> None:
    now, rows = datetime.now(UTC), []
    for summary in found:
        size = disk.size_of(summary.folder)
        parts = (size.total, size.rollout, size.blobs, size.outputs, size.history + size.other)
        sizes = (size_text(part) if part else "" for part in parts)
        title = one_line(summary.title or summary.note)
        rows.append((summary.id[:ID_SHOWN], age(summary.updated_at, now), *sizes, title))
    numbers = ("on disk", "rollout", "blobs", "outputs", "rest")
    print_rows(("session", "used", *numbers, "title"), rows, right=numbers)


def _show(found: Sequence[SessionSummary]) -> None:
    now, longest = datetime.now(UTC), MODEL_SHOWN if sys.stdout.isatty() else None
    rows = (
        (
            summary.id[:ID_SHOWN],
            age(summary.updated_at, now),
            str(summary.turns),
            f"{summary.tokens:,}",
            one_line(summary.model, longest),
            one_line(summary.title or summary.note),
        )
        for summary in found
    )
    headings = ("session", "used", "turns", "tokens", "model", "title")
    print_rows(headings, rows, right=("turns", "tokens"))

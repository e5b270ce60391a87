"""`pinfold sessions`: one line each, the newest first."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import structs
from rich.table import Table
from rich.text import Text

from pinfold.catalog.catalog import Catalog
from pinfold.commands.context_text import age
from pinfold.host.app_context import AppContext, app_context
from pinfold.host.finding import catalog
from pinfold.numbers import ID_SHOWN
from pinfold.output import print_json, print_table
from pinfold.paths import program
from pinfold.rollout import disk
from pinfold.rollout.summaries import SessionSummary
from pinfold.sanitize import one_line
from pinfold.tools.workspace import size_text

MODEL_SHOWN = 14
"""Columns that a model's name takes on a terminal, at most."""


def command(arguments: argparse.Namespace) -> int:
    ctx = app_context(arguments)
    index = catalog(ctx)
    try:
        return _list(ctx, index, arguments)
    finally:
        sys.stdout.flush()
        index.check()  # what the list had no time for, the next one knows


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
    piped, now = not sys.stdout.isatty(), datetime.now(UTC)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("session", "used"):
        table.add_column(heading, no_wrap=True)
    for heading in ("on disk", "rollout", "blobs", "outputs", "rest"):
        table.add_column(heading, no_wrap=True, justify="right")
    table.add_column("title")  # gives way alone: its text is cut, not wrapped
    for summary in found:
        size = disk.size_of(summary.folder)
        parts = (size.total, size.rollout, size.blobs, size.outputs, size.history + size.other)
        table.add_row(
            summary.id[:ID_SHOWN],
            age(summary.updated_at, now),
            *(size_text(part) if part else "" for part in parts),
            Text(one_line(summary.title or summary.note), overflow="ellipsis", no_wrap=True),
        )
    print_table(table, whole=piped)


def _show(found: Sequence[SessionSummary]) -> None:
    piped, now = not sys.stdout.isatty(), datetime.now(UTC)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("session", no_wrap=True)
    table.add_column("used", no_wrap=True)
    table.add_column("turns", no_wrap=True, justify="right")
    table.add_column("tokens", no_wrap=True, justify="right")
    table.add_column("model", no_wrap=True, max_width=None if piped else MODEL_SHOWN)
    table.add_column("title")  # gives way alone: its text is cut, not wrapped
    for summary in found:
        table.add_row(
            summary.id[:ID_SHOWN],
            age(summary.updated_at, now),
            str(summary.turns),
            f"{summary.tokens:,}",
            Text(one_line(summary.model), overflow="ellipsis"),
            Text(one_line(summary.title or summary.note), overflow="ellipsis", no_wrap=True),
        )
    print_table(table, whole=piped)

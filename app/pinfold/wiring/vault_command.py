"""`pinfold vault`: sessions of other tools, kept here."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from pinfold import paths
from pinfold.commands.context_text import age
from pinfold.host import vault
from pinfold.host.app_context import AppContext, WrongUse, app_context
from pinfold.numbers import ID_SHOWN, plural
from pinfold.output import end_progress, print_json, print_progress, print_rows, warn
from pinfold.sanitize import one_line
from pinfold.tools.workspace import size_text
from pinfold.vault.taking import SyncReport
from pinfold.wiring.stdin import confirmed


def command(arguments: argparse.Namespace) -> int:
    """Raises `WrongUse`, `VaultError`."""
    ctx = app_context(arguments)
    match arguments.words:
        case ["sync"]:
            return _sync(ctx)
        case [] | ["list"]:
            return _list(ctx, as_json=arguments.json)
        case ["forget", session]:
            return _forget(ctx, session, yes=arguments.yes)
    raise WrongUse("vault takes list, sync or forget ID")


def _sync(ctx: AppContext) -> int:
    def show(count: int, total: int) -> None:
        print_progress(f"{count:,} of {total:,} sessions")

    try:
        report = vault.sync(ctx, show)
    finally:
        end_progress()
    print(outcome(report))
    for file, why in report.failed.items():
        warn(f"{paths.shown(Path(file))}: {why}")
    return 1 if report.failed else 0


def outcome(report: SyncReport) -> str:
    """The outcome of a sync, in a sentence."""
    parts = [
        (report.new, "new"),
        (report.grown, "updated"),
        (report.version, "kept as another version"),
        (report.removed, "removed for age or room"),
        (report.same, "unchanged"),
        (report.unwanted, "skipped: forgotten or too old"),
    ]
    counts = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"Sessions: {counts}." if counts else "No Codex or Claude Code sessions here."


def _list(ctx: AppContext, *, as_json: bool) -> int:
    shelf = vault.shelf(ctx)
    entries = sorted(shelf.entries(), key=lambda entry: entry.newest.used, reverse=True)
    if as_json:
        for entry in entries:
            print_json(
                {
                    "session": entry.session,
                    "tool": entry.tool,
                    "title": entry.title,
                    "cwd": entry.cwd,
                    "used_at": entry.used_at,
                    "size": shelf.size(entry),
                    "versions": len(entry.versions),
                    "file": shelf.file(entry),
                    "original": entry.newest.original,
                }
            )
        return 0
    if not entries:
        print(f"The vault is empty. Fill it with: {paths.program()} vault sync")
        return 0
    now, sizes = datetime.now(UTC), [shelf.size(entry) for entry in entries]
    rows = (
        (
            entry.session[:ID_SHOWN],
            entry.tool,
            age(entry.used_at, now),
            size_text(size),
            "there" if entry.newest.original else "gone",
            one_line(Path(entry.cwd).name),
            one_line(entry.title),
        )
        for entry, size in zip(entries, sizes, strict=True)
    )
    headings = ("session", "tool", "used", "size", "original", "folder", "title")
    print_rows(headings, rows, right=("size",))
    count = plural(len(entries), "session")
    print(f"{count}, {size_text(sum(sizes))} of {ctx.settings.vault.max_gb:g} GB.")
    return 0


def _forget(ctx: AppContext, session: str, *, yes: bool) -> int:
    entry = vault.one(ctx, session)
    print(f"Session {entry.session} of {entry.tool}: “{one_line(entry.title) or 'no title'}”")
    if not confirmed("Remove it from the vault, and never copy it again?", yes=yes):
        print("Nothing removed.")
        return 1
    vault.forget(ctx, entry)
    print(f"Forgot session {entry.session}.")
    return 0

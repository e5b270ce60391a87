"""What the ledger says of files, of commands and tests, and of what failed."""

from collections.abc import Iterator

from msgspec import Struct

from pinfold.checkpoint.ledger_records import (
    CommandRecord,
    ErrorRecord,
    FileRecord,
    Records,
    TestRecord,
)
from pinfold.checkpoint.ledger_told import SHORT_HASH
from pinfold.checkpoint.text import one_line

_FAILED, _FIXED, _RAN, _TESTED = 7.0, 2.0, 0.2, 4.0
_HALVED = 60
"""Items after which half of what an outcome is worth has faded, to no less than a half."""


class Outcome(Struct, frozen=True, gc=False):
    """A line that says how something came out."""

    worth: float
    section: str
    text: str


def failures(records: Records) -> Iterator[Outcome]:
    for label, error in records.errors.items():
        run = records.commands.get(error.command)
        fixed = run is not None and run.ok and run.item > error.item
        worth = _fresh(_FIXED if fixed else _FAILED, error.item, records.now)
        yield Outcome(worth, "FAILED", _failure(label, error, run if fixed else None))


def runs(records: Records) -> Iterator[Outcome]:
    """Of tests and of commands."""
    for command, tested in records.tests.items():
        worth = _fresh(_TESTED, tested.item, records.now)
        yield Outcome(worth, "TESTS", _tests(command, tested))
    for run in records.commands.values():
        worth = _fresh(_RAN * run.runs if run.ok else _FAILED / 2, run.item, records.now)
        yield Outcome(worth, "COMMANDS", _command(run))


def verb(file: FileRecord) -> str:
    if not file.changed:
        return "read"
    deleted = file.deleted and not file.outdated
    return "deleted" if deleted else "created" if file.created else "edited"


def done(file: FileRecord) -> str:
    """What happened to a file."""
    told = [_often(verb(file), file.changed)] if file.changed else []
    if file.read:
        told.append(_often("read", file.read))
    last = f" #{file.item}" if file.item else ""
    if file.outdated:
        return f"{', '.join(told)}{last}, {'gone' if file.deleted else 'changed'} since"
    known = f" (hash={file.hash[:SHORT_HASH]})" if file.hash else ""
    return f"{', '.join(told)}{last}{known}"


def _failure(label: str, error: ErrorRecord, fixed: CommandRecord | None) -> str:
    often = f", {error.times}x" if error.times > 1 else ""
    since = f", ok since #{fixed.item}" if fixed else ""
    return f"- {label}{often} (#{error.item}{since}): {error.line}"


def _tests(command: str, run: TestRecord) -> str:
    failed = f"; failed: {', '.join(run.failed)}" if run.failed else ""
    return one_line(f"- {run.said} (#{run.item}, {command}){failed}")


def _command(run: CommandRecord) -> str:
    outcome = "ok" if run.ok else f"exit {run.exit_code}" if run.exit_code else "failed"
    often = f" {run.runs}x" if run.runs > 1 else ""
    return f"- {outcome}{often} #{run.item}: {run.text}"


def _often(said: str, times: int) -> str:
    return f"{said} {times}x" if times > 1 else said


def _fresh(worth: float, item: int, now: int) -> float:
    """`worth` of something that happened at `item`."""
    faded: float = 0.5 ** (max(0, now - item) / _HALVED)
    return worth * (0.5 + 0.5 * faded)

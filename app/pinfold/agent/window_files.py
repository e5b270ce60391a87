"""`history/<ts>.jsonl` beside the rollout: the full window before each compaction."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from pinfold.rollout import files
from pinfold.rollout.items import Form, Item
from pinfold.rollout.journal import JournalError
from pinfold.window.refused import Refused
from pinfold.window.window import Window

FOLDER = "history"
SUMMARY = "session.json"
"""The newest `summary_v1` (seeds/compact-roadmap, section 4)."""
_NUMBER = re.compile(r"-?\d{1,7}")
_TIME = re.compile(r"\d[\d:T -]*Z?(?:\.jsonl)?", re.IGNORECASE)


class Head(Struct, frozen=True):
    """The first line."""

    generation: int
    seq: int
    items: int


class Line(Struct, frozen=True, gc=False):
    """An item in full, and how it stood in the window."""

    n: int
    form: Form
    item: Item


def save(folder: Path, window: Window) -> Path:
    """Write the window as it is. Raises `JournalError`; then there is no such file."""
    at = datetime.now(UTC)
    path = folder / FOLDER / f"{at:%Y%m%dT%H%M%S}-{window.generation}.jsonl"
    forms, archive = window.forms, window.archive
    lines = [Line(n, form, archive[n]) for n, form in forms.items()]
    head = Head(window.generation, window.seq, len(lines))
    content = msgspec.json.Encoder().encode_lines([head, *lines])
    try:
        files.make_folder(path.parent)
        for left in path.parent.glob("*.tmp"):  # by a process that was killed
            left.unlink(missing_ok=True)
        files.write_atomic(path, content)
    except OSError as error:
        raise JournalError(files.failure(path, error)) from error
    return path


def save_summary(folder: Path, summary: dict[str, Any], at: datetime) -> None:
    """Write `session.json`: the seed's `summary_v1`, and when it was made. Raises `OSError`."""
    told = {**summary, "last_compact_at": at.isoformat().replace("+00:00", "Z")}
    files.write_atomic(folder / SUMMARY, msgspec.json.format(msgspec.json.encode(told)) + b"\n")


def named(folder: Path, text: str) -> int:
    """The generation that `text` names: its number, or when the window was archived, in UTC.

    `20260301T1230`, `2026-03-01 12:30` and a whole file name do. Raises `Refused`.
    """
    if _NUMBER.fullmatch(text):
        return int(text)
    if not _TIME.fullmatch(text):
        raise Refused(f"“{text}” is no window: name one by its number or the time in {FOLDER}/.")
    digits = _digits(text)
    kept = (folder / FOLDER).glob("*.jsonl")
    found = [path for path in kept if _digits(path.name).startswith(digits)]
    if len(found) != 1:
        many = "More than one window was" if found else "No window was"
        raise Refused(f"{many} archived at {text}; name one by its number.")
    try:
        with found[0].open("rb") as file:
            return msgspec.json.decode(file.readline(), type=Head).generation
    except ValueError as error:
        raise Refused(f"{found[0]} is damaged: name the window by its number.") from error


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))

"""Earlier windows in full, as files of their own.

Older versions wrote one into `history/` at each compaction: all items of the window once more.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from pinfold import atomic_files
from pinfold.rollout.items import Form, Item
from pinfold.rollout.values import is_compaction
from pinfold.window.generations import forms_of
from pinfold.window.refused import Refused
from pinfold.window.window import Boundary, Window

FOLDER = "history"
SUMMARY = "session.json"
"""The newest `summary_v1` (seeds/compact-roadmap, section 4)."""
_NUMBER = re.compile(r"-?\d{1,7}")
_OLD_NAME = re.compile(r"\d{8}T\d{6}-(-?\d{1,7})\.jsonl")
_TIME = re.compile(r"\d[\d:T -]*Z?(?:\.jsonl)?", re.IGNORECASE)


class WindowHead(Struct, frozen=True):
    """The first line."""

    generation: int
    seq: int
    items: int


class WindowLine(Struct, frozen=True, gc=False):
    """An item in full, and how it was in the window."""

    n: int
    form: Form
    item: Item


def archived(window: Window, generation: int) -> Iterator[bytes]:
    """The lines of a window at its end: a head, then its items in full. Raises `Refused`."""
    forms, archive = forms_of(window, generation), window.archive
    end = next(
        (boundary.seq - 1 for boundary in window.boundaries if boundary.generation > generation),
        None,
    )
    encode = msgspec.json.Encoder().encode
    yield encode(WindowHead(generation, window.seq if end is None else end, len(forms)))
    for n, form in forms.items():
        yield encode(WindowLine(n, form, archive[n]))


def save_summary(folder: Path, summary: dict[str, Any], at: datetime) -> None:
    """Write `session.json`: the seed's `summary_v1`, and when it was made. Raises `OSError`."""
    told = {**summary, "last_compact_at": at.isoformat().replace("+00:00", "Z")}
    atomic_files.write_atomic(
        folder / SUMMARY, msgspec.json.format(msgspec.json.encode(told)) + b"\n"
    )


def named(text: str, boundaries: Sequence[Boundary], folder: Path | None = None) -> int:
    """The generation that `text` names: its number, or when it was compacted, in UTC.

    `20260301T1230` and `2026-03-01 12:30` do, and the names of files that older versions left in
    the session's `folder`. Raises `Refused`.
    """
    if _NUMBER.fullmatch(text):
        return int(text)
    if not _TIME.fullmatch(text):
        raise Refused(
            f"“{text}” is not a window: name one by its number or by when it was compacted."
        )
    digits = _digits(text)
    names = dict(_ended_windows(boundaries))
    for path in (folder / FOLDER).glob("*.jsonl") if folder is not None else ():
        if (match := _OLD_NAME.fullmatch(path.name)) is not None:
            names[path.name] = int(match[1])
    found = {number for name, number in names.items() if _digits(name).startswith(digits)}
    if len(found) != 1:
        many = "More than one window was" if found else "No window was"
        raise Refused(f"{many} compacted at {text}; name one by its number.")
    return found.pop()


def _ended_windows(boundaries: Sequence[Boundary]) -> Iterator[tuple[str, int]]:
    """The windows that a compaction ended, each by when it did and its number."""
    before = boundaries[0].generation - 1 if boundaries else 0
    for boundary in boundaries:
        if is_compaction(boundary.reason):
            yield f"{boundary.at.astimezone(UTC):%Y%m%dT%H%M%S}-{before}", before
        before = boundary.generation


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))

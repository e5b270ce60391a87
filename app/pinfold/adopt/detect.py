"""Reads a session of any kind. The content tells the format, never the name."""

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from pinfold.adopt import messages
from pinfold.adopt.adoption import Adoption, NotASession
from pinfold.adopt.formats.format import FileLines, Format
from pinfold.adopt.formats.registry import FORMATS
from pinfold.adopt.lines import opened, parse, unpacked
from pinfold.rollout.journal import ROLLOUT

_PEEKED = 1_000
"""Lines in which to look for the format."""

_LONG_AGO = datetime.fromtimestamp(0, UTC)


def read(path: Path, index: int = 0) -> Adoption:
    """The session in a file, or in a session folder of pinfold's.

    `index` chooses among the conversations of a file that holds several. Raises `NotASession`,
    `OSError`.
    """
    if path.is_dir():
        path = path / ROLLOUT
        if not path.is_file():
            raise NotASession(f"{path.parent} is a folder without a {ROLLOUT}.")
    modified_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    if not path.is_file():
        raise NotASession(f"{path} is not a file.")
    with opened(path) as file:
        return _read(file, path, modified_at, index)


def read_bytes(content: bytes, name: str, index: int = 0) -> Adoption:
    """The session in the bytes of a file; `name` is for errors. Raises `NotASession`, `OSError`."""
    raw = cast("io.RawIOBase", io.BytesIO(content))
    with unpacked(io.BufferedReader(raw)) as file:
        return _read(file, Path(name), _LONG_AGO, index)


def _read(file: io.BufferedReader, path: Path, modified_at: datetime, index: int) -> Adoption:
    if b"\0" in file.peek():
        raise NotASession(f"{path} is not text.")
    first = next((line for line in file if line.strip()), b"")
    if not first:
        raise NotASession(f"{path} is empty.")
    if _begins_a_line(first):
        return _lines(chain([first], file), path, modified_at, index)
    rest = file.read()
    try:
        document = parse(first + rest)
    except ValueError:
        lines = chain([first], rest.splitlines(keepends=True))
        return _lines(lines, path, modified_at, index)
    return messages.read_document(document, path, modified_at, index)


def _begins_a_line(first: bytes) -> bool:
    """Whether a file has one JSON object per line, by its first line."""
    try:
        return isinstance(parse(first), dict)
    except ValueError:
        return first.lstrip()[:1] not in {b"[", b"{"}


def _lines(lines: Iterable[bytes], path: Path, modified_at: datetime, index: int) -> Adoption:
    rest = iter(lines)
    head = list(islice(rest, _PEEKED))
    found = (form for line in head if (form := _format(line)) is not None)
    form = next(found, None)
    if form is None:
        names = [form.file for form in FORMATS]
        known = f"{', '.join(names[:-1])}, or {names[-1]}"
        raise NotASession(f"{path} is not a session pinfold can read: {known}.")
    return form.read(FileLines(chain(head, rest), path, modified_at, index))


def _format(line: bytes) -> Format | None:
    try:
        record: Any = parse(line)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    return next((form for form in FORMATS if form.recognizes(record)), None)

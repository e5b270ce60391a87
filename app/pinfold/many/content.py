"""The bytes of a session, whole and, if wanted, without its secrets."""

import hashlib
import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from pinfold.adopt.adoption import NotASession
from pinfold.adopt.lines import parse, unpacked
from pinfold.export.redact import SEALED, Secrets
from pinfold.rollout import pictures
from pinfold.rollout.blobs import Blobs

LARGEST = 1 << 30
"""Bytes of a file that is read whole."""
_LONG = 2_000
"""Characters."""
_BASE64 = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/]+={0,2}")


class Content(Struct, frozen=True):
    data: bytes
    """The file's bytes; pinfold's own rollouts have their pictures filled in."""
    lost: int = 0
    """How many pictures are missing."""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def read(path: str) -> Content:
    """Raises `NotASession`, `OSError`."""
    with Path(path).open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotASession("It is not a file.")
        if status.st_size > LARGEST:
            raise NotASession(f"It is larger than {LARGEST >> 30} GB.")
        data = file.read()
    if b'"images"' not in data:
        return Content(data)
    blobs, lost, lines = Blobs(Path(path).parent), 0, list[bytes]()
    for line in data.splitlines(keepends=True):
        whole = pictures.filled_line(line, blobs)
        lost += pictures.missing(whole)
        lines.append(whole if whole is line else whole + b"\n")
    return Content(b"".join(lines), lost)


def redacted(data: bytes) -> bytes:
    """A session's bytes without secrets; the same bytes where there are none. Raises `OSError`."""
    with unpacked(io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data)))) as file:
        plain = file.read()
    try:
        values: list[Any] = [parse(plain)]
        lines = False
    except ValueError:
        values = list(map(_value, plain.splitlines()))
        lines = True
    secrets = Secrets(text for value in values for text in _texts(value))
    if not secrets:
        return data
    parts = [_encoded(value, secrets) for value in values]
    return b"\n".join([*parts, b""] if lines else parts)


class _Damaged(str):
    """A line that is no JSON."""

    __slots__ = ()


def _value(line: bytes) -> Any:
    try:
        return parse(line)
    except ValueError:
        return _Damaged(line.decode("utf-8", "surrogateescape"))


def _texts(value: Any) -> Iterator[str]:
    """Every text that is not sealed, field names included."""
    match value:
        case str():
            if not _is_encoded(value):
                yield value
        case dict():
            yield from value
            yield from (
                text for key, inner in value.items() if key != SEALED for text in _texts(inner)
            )
        case list():
            yield from (text for inner in value for text in _texts(inner))


def _is_encoded(text: str) -> bool:
    """Whether it is a picture or other bytes as base64, where what looks like a secret is none."""
    return len(text) > _LONG and bool(_BASE64.fullmatch(text))


def _encoded(value: Any, secrets: Secrets) -> bytes:
    if isinstance(value, _Damaged):
        return secrets.replaced(str(value)).encode("utf-8", "surrogateescape")
    return msgspec.json.encode(_cleaned(value, secrets.replaced))


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    match value:
        case str():
            return value if _is_encoded(value) else clean(value)
        case dict():
            return {
                clean(key): inner if key == SEALED else _cleaned(inner, clean)
                for key, inner in value.items()
            }
        case list():
            return [_cleaned(inner, clean) for inner in value]
        case _:
            return value

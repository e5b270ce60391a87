"""Messages of a server, one a line: read in linear time, and only so much of them."""

from collections.abc import Iterator
from typing import Any

import msgspec

MOST_BYTES = 32_000_000
"""Of one line."""
MOST_VALUES = 50_000
"""In one message; decoding that many takes a few milliseconds."""
MOST_DEPTH = 100
LARGE = 65_536
"""Bytes from which on a message is looked through before it is decoded, in a thread."""


class Unreadable(Exception):
    """A message that can't be read; `str()` says why, as the end of a sentence."""


TOO_LONG = f"a line of more than {MOST_BYTES // 1_000_000} MB"


class Lines:
    """Cuts bytes into lines, however they come."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that end in `data`; None as soon as one is too long, whose bytes are
        dropped."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            if not part and not self._size:
                continue
            if self._add(part):
                yield None
            if self._size <= self._most:
                yield b"".join(self._parts)
            self._parts, self._size = [], 0
        if rest and self._add(rest):
            yield None

    def _add(self, part: bytes) -> bool:
        """Whether the line has become too long with this."""
        before, self._size = self._size, self._size + len(part)
        if self._size <= self._most:
            self._parts.append(part)
            return False
        self._parts = []
        return before <= self._most


def decode(line: bytes) -> dict[str, Any]:
    """The object in a line. Raises `Unreadable`. Blocking where the line is `LARGE`."""
    if len(line) > LARGE and _values(line) > MOST_VALUES:
        raise Unreadable(f"a message with more than {MOST_VALUES:,} values")
    try:
        message = msgspec.json.decode(line)
    except RecursionError as error:
        raise Unreadable("a message that is nested too deeply") from error
    except ValueError as error:
        raise Unreadable("a message that is not valid JSON") from error
    if not isinstance(message, dict):
        raise Unreadable("a message that is no JSON object")
    if line.count(b"[") + line.count(b"{") > MOST_DEPTH and _depth(message) > MOST_DEPTH:
        raise Unreadable("a message that is nested too deeply")
    return message


def _values(line: bytes) -> int:
    """About how many values it has; stops counting above the limit. What it does at a stretch is
    short, so that other threads get their turn, whatever the line is."""
    count = at = 0
    while count <= MOST_VALUES:
        quote = line.find(b'"', at)
        outside = line[at : quote if quote >= 0 else len(line)]
        count += outside.count(b",") + outside.count(b"[") + outside.count(b"{")
        if quote < 0:
            break
        at = _behind_text(line, quote + 1)
    return count


def _behind_text(line: bytes, at: int) -> int:
    while (quote := line.find(b'"', at)) >= 0:
        before = line[at:quote]
        escaped = (len(before) - len(before.rstrip(b"\\"))) % 2
        at = quote + 1
        if not escaped:
            return at
    return len(line)


def _depth(value: object) -> int:
    """How deep it is nested, at most one more than is allowed."""
    depth, level = 0, [value]
    while level and depth <= MOST_DEPTH:
        depth += 1
        below: list[object] = []
        for one in level:
            if isinstance(one, dict):
                below += one.values()
            elif isinstance(one, list):
                below += one
        level = [one for one in below if isinstance(one, dict | list)]
    return depth

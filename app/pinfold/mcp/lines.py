"""Messages of a server, one per line: read in linear time, with limits."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

MOST_BYTES = 32_000_000
"""Of one line."""
MOST_VALUES = 50_000
"""In one message; decoding that many takes a few milliseconds."""
MOST_DEPTH = 100
LARGE = 65_536
"""Bytes from which on a message is looked through before it is decoded, in a thread."""
MOST_AT_HAND = 8_000_000
"""Bytes of a message that are decoded: whatever handles more of them at a stretch can be felt."""
_HEAD = 200_000
"""Bytes that are left of a text that is too long for that."""
_WHOLE = re.compile(rb"(?:[^\\\x80-\xff]+|[\xc2-\xf4][\x80-\xbf]+|\\u[0-9a-fA-F]{4}|\\[^u])*")
_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
"""The first half of a pair, at an end."""


class Unreadable(Exception):
    """A message that can't be read; `str()` says why, as the end of a sentence."""


TOO_LONG = f"a line of more than {MOST_BYTES // 1_000_000} MB"


class LineSplitter:
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


def decode(line: bytes, keep: Callable[[bytes], str]) -> dict[str, Any]:
    """The object in a line. Raises `Unreadable`. Blocking where the line is `LARGE`.

    What is too long is kept whole, which says where that is, and its long texts are cut.
    """
    if len(line) > LARGE:
        line = _bounded(line, keep)
    try:
        message = msgspec.json.decode(line)
    except RecursionError as error:
        raise Unreadable("a message that is nested too deeply") from error
    except ValueError as error:
        raise Unreadable("a message that is not valid JSON") from error
    if not isinstance(message, dict):
        raise Unreadable("a message that is not a JSON object")
    if line.count(b"[") + line.count(b"{") > MOST_DEPTH and _depth(message) > MOST_DEPTH:
        raise Unreadable("a message that is nested too deeply")
    return message


def _bounded(line: bytes, keep: Callable[[bytes], str]) -> bytes:
    """The line with few values and not too much text. What it does at a stretch is short, so that
    other threads get their turn, whatever the line is."""
    count, long = _looked_through(line)
    if count > MOST_VALUES:
        raise Unreadable(f"a message with more than {MOST_VALUES:,} values")
    if len(line) <= MOST_AT_HAND:
        return line
    if len(line) - sum(end - start - _HEAD for start, end in long) > MOST_AT_HAND:
        raise Unreadable(f"a message with more than {MOST_AT_HAND // 1_000_000} MB of short texts")
    where = keep(line)
    parts: list[bytes] = []
    at = 0
    for start, end in long:
        match = _WHOLE.match(line, start, start + _HEAD)
        head = _HALF.sub(b"", match[0] if match else b"")
        note = f" [... {end - start - len(head):,} bytes left out; the message is in {where} ...]"
        parts += [line[at:start], head, msgspec.json.encode(note)[1:-1]]
        at = end
    return b"".join([*parts, line[at:]])


def _looked_through(line: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Roughly how many values it has, up to just above the limit; where its long texts are."""
    count = at = 0
    long: list[tuple[int, int]] = []
    while count <= MOST_VALUES:
        quote = line.find(b'"', at)
        outside = line[at : quote if quote >= 0 else len(line)]
        count += outside.count(b",") + outside.count(b"[") + outside.count(b"{")
        if quote < 0:
            break
        at = _behind_text(line, quote + 1)
        if at - quote > 2 * _HEAD:
            long.append((quote + 1, at - 1))
    return count, long


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

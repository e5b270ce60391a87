"""Markdown cut into chunks that never change once the next one has begun.

A reply is drawn chunk by chunk, so that a frame costs the open chunk and not the reply. The
same cuts are made whatever pieces the text comes in.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

LIMIT = 8_000
"""Characters after which a paragraph, and any line, is cut anyway."""

_ITEM = re.compile(r" {0,3}(?:[-*+]|(\d{1,9})[.)])(?:\s|$)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_FENCE = re.compile(r"(\s*)(`{3,}|~{3,})(.*)$")
_NESTED = 2
"""Columns from which a line belongs to the list item above it."""
_INDENTED_CODE = 4


class Chunk(NamedTuple):
    """Some lines of Markdown that can be drawn by themselves."""

    kind: Literal["text", "heading", "item", "code"]
    text: str
    gap: bool
    """Whether an empty row is above it."""
    language: str = ""


@dataclass(slots=True)
class _Open:
    """The chunk under way."""

    kind: Literal["text", "heading", "item", "code"] = "text"
    lines: list[str] = field(default_factory=list)
    size: int = 0
    gap: bool = False
    language: str = ""
    fence: str = ""
    """The run of marks that closes the code we are in."""
    blank: bool = False
    """Empty lines have come since the last line."""
    before: str = ""
    """Kind of the chunk above."""
    closed: bool = False

    def push(self, line: str) -> list[Chunk]:
        """Take a whole line; the chunk that it ends, if any."""
        if self.fence:
            self._push_code(line)
            return []
        if not line.strip():
            self.blank = True
            return []
        done = self.finish() if self._begins(line) else []
        if not self.started:
            self._begin(line)
        elif self.blank:
            self.lines.append("")
        self.blank = False
        opening = _FENCE.match(line)
        if opening and (self.kind in ("item", "code") or len(opening[1]) < _INDENTED_CODE):
            self.fence = opening[2]
            if self.kind == "code":
                self.language = opening[3].strip().split(" ")[0].lower()
                return done
        self.lines.append(line)
        self.size += len(line)
        return done

    @property
    def started(self) -> bool:
        return bool(self.lines) or self.kind == "code"

    def finish(self) -> list[Chunk]:
        """Close the chunk and stand ready for the next."""
        if not self.started:
            return []
        chunk = Chunk(self.kind, "\n".join(self.lines), self.gap, self.language)
        self.before = self.kind
        self.kind, self.lines, self.size = "text", [], 0
        self.language, self.fence, self.closed = "", "", False
        return [chunk]

    def _push_code(self, line: str) -> None:
        mark = line.strip()
        if len(mark) >= len(self.fence) and set(mark) == {self.fence[0]}:
            self.fence = ""
            if self.kind == "code":
                self.closed = True
                return
        self.lines.append(line)

    def _begins(self, line: str) -> bool:
        """Whether a new chunk begins with `line`, which is not empty."""
        if not self.started:
            return False
        if self.closed or self.kind == "heading":
            return True
        column = len(line) - len(line.lstrip())
        item = _ITEM.match(line)
        other = bool(_HEADING.match(line)) or (bool(_FENCE.match(line)) and column < _NESTED)
        if self.kind == "item":
            return column < _NESTED and (bool(item) or self.blank or other)
        if self.blank:
            return not (column >= _INDENTED_CODE and self.lines[-1].startswith("    "))
        if item:  # like CommonMark, a number other than 1 does not break a paragraph
            return item[1] in (None, "1")
        return other or self.size >= LIMIT

    def _begin(self, line: str) -> None:
        if _HEADING.match(line):
            self.kind = "heading"
        elif _ITEM.match(line):
            self.kind = "item"
        elif (fence := _FENCE.match(line)) and len(fence[1]) < _INDENTED_CODE:
            self.kind = "code"
        below = self.before == "heading" and self.kind != "heading"
        joined = below or self.kind == self.before == "item"
        apart = self.blank or self.kind in ("heading", "code") or self.before in ("item", "code")
        self.gap = bool(self.before) and apart and not joined


class Chunker:
    """Cuts a text that comes in pieces."""

    def __init__(self) -> None:
        self._open = _Open()
        self._partial = ""

    def feed(self, text: str) -> list[Chunk]:
        """Take a piece; the chunks that are complete now."""
        *lines, rest = (self._partial + text).split("\n")
        done = [chunk for line in lines for chunk in self._take(line)]
        self._partial = rest
        if len(rest) > LIMIT:
            end = (len(rest) - 1) // LIMIT * LIMIT
            done += self._take(rest[:end])
            self._partial = rest[end:]
        return done

    def _take(self, line: str) -> list[Chunk]:
        pieces = [line[i : i + LIMIT] for i in range(0, len(line), LIMIT)] or [""]
        return [chunk for piece in pieces for chunk in self._open.push(piece)]

    def tail(self) -> list[Chunk]:
        """What has come since the last complete chunk, as it stands now."""
        state = replace(self._open, lines=self._open.lines.copy())
        done = state.push(self._partial) if self._partial else []
        return done + state.finish()

    def close(self) -> list[Chunk]:
        """The text has ended: the chunks that remain."""
        done = self._open.push(self._partial) if self._partial else []
        self._partial = ""
        return done + self._open.finish()

"""Unified diffs for the screen and for the approval card."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

CONTEXT = 3
MAX_MATCHED = 20_000
"""Changed regions of more lines than this are shown as one block replaced by another."""
MAX_LINES = 1_000
MAX_BYTES = 64_000

Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Diff:
    text: str
    added: int
    removed: int


def unified(before: str | None, after: str | None, uri: str) -> Diff:
    """The diff of a file's text; None is no file. Long diffs are cut, and say so."""
    old, new = _lines(before), _lines(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    # The equal head and tail need no matching, save the lines that are shown as context.
    first = max(start - CONTEXT, 0)
    keep = max(end - CONTEXT, 0)
    a, b = old[first : len(old) - keep], new[first : len(new) - keep]
    added = removed = 0
    lines: list[str] = []
    for group in _groups(a, b):
        lines.append(_header(group, first))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += (" " + line for line in a[i1:i2])
                continue
            lines += ("-" + line for line in a[i1:i2])
            lines += ("+" + line for line in b[j1:j2])
            removed += i2 - i1
            added += j2 - j1
    if not lines:
        return Diff("", 0, 0)
    head = [
        f"--- {'/dev/null' if before is None else f'a/{uri}'}\n",
        f"+++ {'/dev/null' if after is None else f'b/{uri}'}\n",
    ]
    return Diff(_capped(head + lines), added, removed)


def _lines(text: str | None) -> list[str]:
    if not text:
        return []
    lines = text.split("\n")
    last = lines.pop()
    ended = [line + "\n" for line in lines]
    return [*ended, last + "\n\\ No newline at end of file\n"] if last else ended


def _common(a: list[str], b: list[str]) -> int:
    for n, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return n
    return min(len(a), len(b))


def _groups(a: list[str], b: list[str]) -> list[Sequence[Opcode]]:
    if len(a) + len(b) > MAX_MATCHED:
        return [[("replace", 0, len(a), 0, len(b))]]
    return list(SequenceMatcher(None, a, b).get_grouped_opcodes(CONTEXT))


def _header(group: Sequence[Opcode], offset: int) -> str:
    _, i1, _, j1, _ = group[0]
    _, _, i2, _, j2 = group[-1]
    return f"@@ -{_range(i1 + offset, i2 - i1)} +{_range(j1 + offset, j2 - j1)} @@\n"


def _range(start: int, length: int) -> str:
    # An empty range names the line before it.
    return f"{start + 1 if length else start},{length}" if length != 1 else str(start + 1)


def _capped(lines: list[str]) -> str:
    shown, size = 0, 0
    while shown < min(len(lines), MAX_LINES) and size <= MAX_BYTES:
        size += len(lines[shown].encode(errors="replace"))
        shown += 1
    if size > MAX_BYTES:
        shown -= 1
    left = len(lines) - shown
    return "".join(lines[:shown]) + (f"... {left} more lines\n" if left else "")

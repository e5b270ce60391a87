"""Finds the text most like one that was not found, and says what differs."""

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

TYPOGRAPHIC = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", " "),
    }
)
NUMBERED = re.compile(r"^\s*\d+\t")
MAX_LINES = 5_000
"""Longer files are not searched for what is merely alike."""
ALIKE = 0.6
"""The least similarity, in [0, 1], of a line that is worth showing."""


def plain(line: str) -> str:
    """`line` with typographic quotes, dashes and spaces as their ASCII forms."""
    return line.translate(TYPOGRAPHIC)


CHECKS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("whitespace at line ends", str.rstrip),
    ("indentation", str.strip),
    ("typographic characters", lambda line: plain(line).strip()),
    ("whitespace", lambda line: "".join(line.split())),
    ("upper and lower case", str.casefold),
)


def nearest(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """One or two sentences on what in `lines` comes nearest to `wanted`, which is not there."""
    if all(NUMBERED.match(line) for line in wanted if line.strip()):
        bare = [NUMBERED.sub("", line) for line in wanted]
        if _find(lines, bare, str.strip) is not None:
            return "Leave out the line numbers that read_file adds."
    for what, fold in CHECKS:
        start = _find(lines, wanted, fold)
        if start is not None:
            return f"Lines that differ only in {what} begin at line {start + 1}. " + _difference(
                lines, wanted, start
            )
    if len(lines) > MAX_LINES:
        return "The file is too long to search for similar text."
    start = _similar_place(lines, wanted)
    if start is None:
        return "Nothing in the file is similar."
    return f"The nearest lines begin at line {start + 1}. " + _difference(lines, wanted, start)


def _find(lines: Sequence[str], wanted: Sequence[str], fold: Callable[[str], str]) -> int | None:
    """The index of `wanted` in `lines`, both folded; its first and last line may be cut short."""
    folded, target = [fold(line) for line in lines], [fold(line) for line in wanted]
    if not any(target):
        return None
    last = len(target) - 1
    if not last:
        return next((n for n, line in enumerate(folded) if target[0] in line), None)
    for n in range(len(folded) - last):
        if (
            folded[n].endswith(target[0])
            and folded[n + 1 : n + last] == target[1:last]
            and folded[n + last].startswith(target[last])
        ):
            return n
    return None


def _similar_place(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where `wanted` would begin if its longest line is the file's line that is most like it."""
    anchor = max(range(len(wanted)), key=lambda n: len(wanted[n].strip()))
    matcher = SequenceMatcher(None, b=wanted[anchor].strip()[:500])
    best, found = ALIKE, None
    for n, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:500])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, found = ratio, n
    return None if found is None else max(found - anchor, 0)


def _difference(lines: Sequence[str], wanted: Sequence[str], start: int) -> str:
    for n, line in enumerate(wanted):
        there = lines[start + n] if start + n < len(lines) else None
        if there is None:
            return f"The file ends before {_shown(line)}."
        if there != line:
            return f"Line {start + n + 1} is {_shown(there)}, you wrote {_shown(line)}."
    return ""


def _shown(line: str) -> str:
    return repr(line if len(line) <= 200 else line[:200] + "…")

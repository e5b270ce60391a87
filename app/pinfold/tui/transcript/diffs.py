"""Unified diffs as lines: numbered, signed, tinted."""

import re
from collections.abc import Iterator, Sequence

from rich.segment import Segment

from pinfold.sanitize import clean
from pinfold.tui.transcript.lines import TranscriptLine, fold, indent
from pinfold.tui.transcript.looks import Looks

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HEADERS = ("--- ", "+++ ", "diff ", "index ", "\\")
_NOTES = {
    "new file": "new",
    "deleted file": "deleted",
    "rename from ": "renamed",
    "new mode ": "new mode",
    "Binary ": "binary",
}
"""Lines of Git's header for files of which no line is shown."""


def counts(diff: str) -> tuple[int, int]:
    """Lines added and removed."""
    signs = [sign for sign, _, _ in _rows(diff)]
    return signs.count("+"), signs.count("-")


def diff_lines(diff: str, width: int, looks: Looks) -> list[TranscriptLine]:
    """The lines of a diff; where it spans several files, each file's name is above its part."""
    rows = list(_rows(clean(diff)))
    digits = len(str(max((number for _, number, _ in rows), default=1)))
    files = sum(sign == "file" for sign, _, _ in rows)
    grounds = {"+": looks.added, "-": looks.removed}
    signs = {"+": looks.added_text, "-": looks.removed_text}
    out: list[TranscriptLine] = []
    for sign, number, text in rows:
        if sign == "file":
            if files > 1 or len(rows) == 1:
                out.append(TranscriptLine([Segment(text, looks.tool)]))
        elif sign == "gap":
            if out and out[-1].lead:
                out.append(TranscriptLine([Segment(f"{'⋮':>{digits}}", looks.dim)], lead=digits))
        else:
            style = looks.dim if sign == " " else looks.plain
            lines = fold([Segment(text, style)], width - digits - 3)
            head = [Segment(f"{number:>{digits}} ", looks.dim)]
            head.append(Segment(f"{sign} ", signs.get(sign, looks.dim)))
            lines = indent(lines, head, [Segment(" " * (digits + 3))])
            out += [line._replace(fill=grounds.get(sign)) for line in lines]
    return out


def names(diff: str) -> list[str]:
    """The files that it changes."""
    return [text for sign, _, text in _rows(diff) if sign == "file"]


def _rows(diff: str) -> Iterator[tuple[str, int, str]]:
    """Sign, line number and text of each row; `file` and `gap` are signs too."""
    old = new = old_end = new_end = 0
    unnamed, notes = "", list[str]()  # a file whose name has not been yielded, and what it is
    in_header = False
    for line in diff.rstrip("\n").split("\n"):
        outside = old >= old_end and new >= new_end
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[3])
            old_end, new_end = old + int(hunk[2] or 1), new + int(hunk[4] or 1)
            in_header = False
            yield "gap", 0, ""
        elif outside and line.startswith("diff --git "):
            if unnamed:
                yield "file", 0, _described(unnamed, notes)
            unnamed, notes, in_header = line.rpartition(" b/")[2], [], True
        elif outside and (in_header or line.startswith(_HEADERS)):
            if line.startswith("+++ "):
                gone = f"{unnamed} (deleted)" if unnamed and line == "+++ /dev/null" else ""
                yield "file", 0, gone or line[4:].removeprefix("b/")
                unnamed = ""
            elif unnamed and (note := _note(line)):
                notes.append(note)
        elif not line.startswith("\\"):
            sign = line[:1] if line[:1] in ("+", "-") else " "
            yield sign, old if sign == "-" else new, line[1:]
            old += sign != "+"
            new += sign != "-"
    if unnamed:
        yield "file", 0, _described(unnamed, notes)


def _described(name: str, notes: Sequence[str]) -> str:
    return f"{name} ({', '.join(notes)})" if notes else name


def _note(header: str) -> str:
    """What a line of Git's header says of a file without lines of text."""
    return next((note for begin, note in _NOTES.items() if header.startswith(begin)), "")

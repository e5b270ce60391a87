"""Unified diffs as lines: numbered, signed, tinted."""

import re

from rich.segment import Segment

from pinfold.tui.sanitize import clean
from pinfold.tui.transcript.lines import Line, fold, indent
from pinfold.tui.transcript.looks import Looks

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")


def counts(diff: str) -> tuple[int, int]:
    """Lines added and removed."""
    lines = [line for line in diff.split("\n") if not line.startswith(("+++ ", "--- "))]
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


def diff_lines(diff: str, width: int, looks: Looks) -> list[Line]:
    """The lines of a diff; where it spans several files, each file's name stands above its part."""
    out: list[Line] = []
    old = new = 0
    files = diff.count("\n+++ ") + diff.startswith("+++ ")
    digits = len(str(max((int(m[3]) + int(m[4] or 1) for m in _HUNK.finditer(diff)), default=1)))
    for raw in clean(diff).rstrip("\n").split("\n"):
        if hunk := _HUNK.match(raw):
            old, new = int(hunk[1]), int(hunk[3])
            if out and out[-1].lead:
                out.append(Line([Segment(f"{'⋮':>{digits}}", looks.dim)], lead=digits))
        elif raw.startswith("+++ "):
            if files > 1:
                out.append(Line([Segment(raw[4:].removeprefix("b/"), looks.tool)]))
        elif raw.startswith(("--- ", "\\", "diff ", "index ")):
            continue
        else:
            sign = raw[:1] or " "
            number = old if sign == "-" else new
            text = Segment(raw[1:], looks.plain if sign != " " else looks.dim)
            fill, style = None, looks.dim
            if sign == "+":
                fill, style = looks.added, looks.added_text
            elif sign == "-":
                fill, style = looks.removed, looks.removed_text
            old += sign != "+"
            new += sign != "-"
            head = [Segment(f"{number:>{digits}} ", looks.dim), Segment(f"{sign} ", style)]
            rest = [Segment(" " * (digits + 3))]
            rows = indent(fold([text], width - digits - 3), head, rest)
            out += [row._replace(fill=fill) for row in rows]
    return out

"""Details of results that several tools share: edits with their diff, answers, refusals, plans."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

STATUS = {"pending": "pending", "in_progress": "in_progress", "completed": "done"}
"""The status of a plan's step: in Claude Code and Codex, and in pinfold."""
MAX_LINES = 1_000
MAX_CHARACTERS = 64_000


class DiffPart(NamedTuple):
    """A piece of a file that changed."""

    path: str
    lines: Sequence[str]
    """Each begins with ` `, `+` or `-`."""
    old: int = 1
    new: int = 1
    """The numbers of the first line before and after; 1 if not known."""


def edited(
    paths: Sequence[str], parts: Iterable[DiffPart] = (), *, bodies: Iterable[str]
) -> dict[str, Any]:
    """The detail of an edit; `bodies` are the arguments that hold text of files, if known."""
    detail: dict[str, Any] = {"act": "edit", "paths": list(paths)}
    if held := list(bodies):
        detail["bodies"] = held
    rows: list[str] = []
    added = removed = 0
    last = None
    for path, lines, old, new in parts:
        came = sum(line.startswith("+") for line in lines)
        went = sum(line.startswith("-") for line in lines)
        added, removed = added + came, removed + went
        if path != last:
            rows += [f"--- a/{path}", f"+++ b/{path}"]
            last = path
        rows.append(f"@@ -{old},{len(lines) - came} +{new},{len(lines) - went} @@")
        rows += lines
    if rows:
        detail |= {"added": added, "removed": removed, "diff": _capped(rows)}
    return detail


def answered(questions: Sequence[str], answers: Sequence[str]) -> dict[str, Any]:
    """The detail of questions to the user, one line each."""
    return {
        "act": "question",
        "title": "\n".join(questions),
        "words": "\n".join(answers) if any(answers) else "",
    }


def refused(text: str, words: str = "") -> dict[str, Any]:
    """The detail of a call that the user refused with these words; `text` is its result."""
    host = [[0, len(text)]]
    return {"ok": False, "act": "refused", "refused": True, "words": words, "host": host}


def signed(before: str, after: str) -> list[str]:
    """A replacement as signed lines; what both texts begin and end with is context."""
    old, new = before.splitlines(), after.splitlines()
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    return [
        *(f" {line}" for line in old[:head]),
        *(f"-{line}" for line in old[head : len(old) - tail]),
        *(f"+{line}" for line in new[head : len(new) - tail]),
        *(f" {line}" for line in old[len(old) - tail :]),
    ]


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _capped(rows: Sequence[str]) -> str:
    shown, size = 0, 0
    for row in rows[:MAX_LINES]:
        size += len(row) + 1
        if size > MAX_CHARACTERS:
            break
        shown += 1
    left = len(rows) - shown
    return "".join(f"{row}\n" for row in rows[:shown]) + (
        f"... {left} more lines\n" if left else ""
    )

"""The `*** Begin Patch` format: parsed here, and its hunks applied to the lines of a text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pinfold.tools.near import nearest, plain

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, DELETE, UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
MOVE, END_OF_FILE = "*** Move to: ", "*** End of File"
NO_NEWLINE = "\\ No newline"
RANGES = re.compile(r"^-\d+(,\d+)? \+\d+(,\d+)? @@")
"""What follows `@@` in a unified diff; ignored here."""

Op = Literal[" ", "-", "+"]


class PatchError(ValueError):
    """The patch is malformed or does not apply; `str()` says where."""


@dataclass(frozen=True, slots=True)
class PatchHunk:
    number: int
    """Counted from 1 within its file."""
    line: int
    """Where it begins in the patch."""
    anchors: tuple[str, ...]
    """Lines after `@@`, to be found one after another before the hunk itself."""
    lines: tuple[tuple[Op, str], ...]
    at_end: bool = False
    newline: bool | None = None
    """Whether the file shall end with a newline; None leaves it as it is."""


@dataclass(frozen=True, slots=True)
class AddFile:
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class DeleteFile:
    path: str


@dataclass(frozen=True, slots=True)
class UpdateFile:
    path: str
    move_to: str | None
    hunks: tuple[PatchHunk, ...]


Section = AddFile | DeleteFile | UpdateFile


def parse(patch: str) -> tuple[Section, ...]:
    """The sections of a patch, in order. Raises `PatchError`."""
    return _Parser(patch).sections()


def named(patch: str) -> tuple[str, ...]:
    """The paths in the headings of a patch, which need not be a sound one."""
    marks = (ADD, DELETE, UPDATE, MOVE)
    lines = (line.strip() for line in patch.splitlines())
    found = (line[len(mark) :].strip() for line in lines for mark in marks if line.startswith(mark))
    return tuple(dict.fromkeys(filter(None, found)))


class _Parser:
    def __init__(self, patch: str) -> None:
        self.lines = patch.replace("\r\n", "\n").split("\n")
        marks = [line.strip() for line in self.lines]
        if BEGIN not in marks:
            raise PatchError(f"the patch must begin with {BEGIN!r}")
        self.at = marks.index(BEGIN) + 1
        if END not in marks[self.at :]:
            raise PatchError(f"the patch must end with {END!r}")
        self.end = len(marks) - 1 - marks[::-1].index(END)

    def sections(self) -> tuple[Section, ...]:
        found: list[Section] = []
        while self.at < self.end:
            line = self.lines[self.at].strip()
            self.at += 1
            if line.startswith(ADD):
                found.append(AddFile(line[len(ADD) :], self._added()))
            elif line.startswith(DELETE):
                found.append(DeleteFile(line[len(DELETE) :]))
            elif line.startswith(UPDATE):
                found.append(self._update(line[len(UPDATE) :]))
            elif line:
                raise PatchError(
                    f"patch line {self.at}: expected '{ADD}', '{DELETE}' or '{UPDATE}' "
                    f"and a path, not {line!r}"
                )
        if not found:
            raise PatchError("the patch changes no file")
        return tuple(found)

    def _inside(self) -> str | None:
        """The current line, or None at the end of the section."""
        if self.at >= self.end or self.lines[self.at].startswith("*** "):
            return None
        return self.lines[self.at]

    def _added(self) -> str:
        lines: list[str] = []
        newline = "\n"
        while (line := self._inside()) is not None:
            self.at += 1
            if line.startswith(NO_NEWLINE):
                newline = ""
            elif line.startswith("+"):
                lines.append(line[1:])
            elif line.strip():
                raise PatchError(f"patch line {self.at}: lines of a new file begin with '+'")
        return "\n".join(lines) + newline if lines else ""

    def _update(self, path: str) -> UpdateFile:
        move_to = None
        if self.at < self.end and self.lines[self.at].startswith(MOVE):
            move_to = self.lines[self.at][len(MOVE) :].strip()
            self.at += 1
        hunks: list[PatchHunk] = []
        while self._inside() is not None:
            hunk = self._hunk(len(hunks) + 1)
            if hunk.lines:
                hunks.append(hunk)
        if not hunks and move_to is None:
            raise PatchError(f"{path}: the update has no hunk")
        return UpdateFile(path, move_to, tuple(hunks))

    def _hunk(self, number: int) -> PatchHunk:
        start = self.at + 1
        anchors = self._anchors()
        lines: list[tuple[Op, str]] = []
        newline = None
        while (line := self._inside()) is not None and not line.startswith("@@"):
            self.at += 1
            match line[:1]:
                case " " | "-" | "+" as op:
                    lines.append((op, line[1:]))
                case "":
                    lines.append((" ", ""))
                case "\\" if line.startswith(NO_NEWLINE):
                    newline = bool(lines) and lines[-1][0] == "-"
                case _:
                    raise PatchError(
                        f"{self._name(number, start)}: line {self.at} of the patch must begin "
                        f"with ' ', '+', '-' or '@@': {line!r}"
                    )
        at_end = self.at < self.end and self.lines[self.at].strip() == END_OF_FILE
        if at_end:
            self.at += 1
        if anchors and not lines and not at_end:
            raise PatchError(f"{self._name(number, start)}: it has no lines after its @@")
        return PatchHunk(number, start, anchors, tuple(lines), at_end, newline)

    def _anchors(self) -> tuple[str, ...]:
        found: list[str] = []
        while (line := self._inside()) is not None and line.startswith("@@"):
            self.at += 1
            anchor = line[2:].strip()
            if anchor and not RANGES.match(anchor):
                found.append(anchor.removesuffix("@@").rstrip())
        return tuple(found)

    @staticmethod
    def _name(number: int, line: int) -> str:
        return f"hunk {number} (line {line} of the patch)"


def apply(text: str, hunks: Sequence[PatchHunk]) -> str:
    """`text`, whose line ends are `\\n`, with the hunks applied in order. Raises `PatchError`."""
    lines = text.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    result: list[str] = []
    at = 0
    for hunk in hunks:
        start, changes = _place(lines, hunk, at)
        result += lines[at:start]
        at = start
        for op, line in changes:
            if op == "+":
                result.append(line)
                continue
            # The file's own line: a fuzzy match must not change what is mere context.
            if op == " ":
                result.append(lines[at])
            at += 1
        if hunk.newline is not None:
            ended = hunk.newline
    result += lines[at:]
    return "\n".join(result) + "\n" * (ended and bool(result))


def _place(lines: list[str], hunk: PatchHunk, at: int) -> tuple[int, tuple[tuple[Op, str], ...]]:
    """The index at which a hunk applies, from `at` on, and its lines without surplus blank ones."""
    begin = at
    for anchor in hunk.anchors:
        found = _seek(lines, [anchor], begin, str.strip)
        if found is None:
            raise PatchError(_unplaced(lines, hunk, [anchor], at))
        begin = found + 1
    changes = hunk.lines
    while True:
        old = [line for op, line in changes if op != "+"]
        if not old:
            return (begin if hunk.anchors else len(lines)), changes
        start = _find(lines, old, begin, hunk.at_end)
        if start is None and hunk.anchors:
            # Some repeat the anchor as the first line of the hunk.
            start = _find(lines, old, begin - 1, hunk.at_end)
        if start is not None:
            return start, changes
        # A blank line before the next section is taken for context.
        if len(old) == 1 or changes[-1] != (" ", ""):
            break
        changes = changes[:-1]
    raise PatchError(_unplaced(lines, hunk, [line for op, line in hunk.lines if op != "+"], begin))


def _find(lines: list[str], old: list[str], begin: int, at_end: bool) -> int | None:
    folds: tuple[Callable[[str], str], ...] = (str, str.rstrip, lambda line: plain(line).rstrip())
    for fold in folds:
        if at_end:
            start = _seek(lines, old, max(len(lines) - len(old), begin), fold)
            if start is not None:
                return start
        start = _seek(lines, old, begin, fold)
        if start is not None:
            return start
    return None


def _seek(lines: list[str], old: list[str], begin: int, fold: Callable[[str], str]) -> int | None:
    """The first index from `begin` on at which `old` is found, both folded."""
    target = [fold(line) for line in old]
    folded = [fold(line) for line in lines[begin:]]
    for n in range(len(folded) - len(target) + 1):
        if folded[n] == target[0] and folded[n : n + len(target)] == target:
            return begin + n
    return None


def _unplaced(lines: list[str], hunk: PatchHunk, old: list[str], begin: int) -> str:
    what = f"hunk {hunk.number} (line {hunk.line} of the patch) does not apply"
    earlier = _find(lines, old, 0, at_end=False)
    if earlier is not None:
        return (
            f"{what}: its lines are at line {earlier + 1}, but the hunk before it or its @@ "
            f"lines lead to line {begin + 1}; hunks must be in the order of the file"
        )
    return f"{what}: its lines are not in the file. {nearest(lines, old)}"

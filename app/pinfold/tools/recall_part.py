"""Some lines of one item, as `recall` shows them: a range, or those around what is searched."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pinfold.ports.tool import ToolError
from pinfold.rollout.arguments import parsed
from pinfold.rollout.items import Item
from pinfold.tools.arguments import title_line
from pinfold.tools.snippets import MAX_LINE, numbered

AROUND = 2
"""Lines before and after one that matches."""
_RANGE = re.compile(r"(\d{1,9})(?:\s*(?:\.\.|-|–)\s*(\d{1,9}))?")


def spilled(item: Item, folder: Path) -> Path | None:
    """The session's file with the whole output, where the item holds only its head and tail."""
    stated = item.detail.get("spill")
    if not isinstance(stated, str):
        return None
    try:
        path = Path(stated).resolve()
        inside = path.is_relative_to((folder / "outputs").resolve()) and path.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    return path if inside else None


@contextmanager
def lines_of(item: Item, text: str, folder: Path) -> Iterator[Iterable[str]]:
    """All lines of an item: of the file with the whole output, where it was cut."""
    path = spilled(item, folder)
    if path is None:
        yield (_readable(text) if item.kind == "tool_call" else text).split("\n")
        return
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        yield (line.rstrip("\n") for line in file)


def between(lines: Iterable[str], wanted: str, room: int) -> str:
    """The lines of a range such as `120..180`, numbered. Raises `ToolError`."""
    named = _RANGE.fullmatch(wanted.strip())
    if named is None:
        raise ToolError(f'Write lines as "120..180", not {title_line(wanted)!r}.')
    first, last = sorted((int(named[1]), int(named[2] or named[1])))
    shown: list[str] = []
    total, size, end = 0, 0, first
    for total, line in enumerate(lines, 1):
        size += _size(line) if first <= total <= last else 0
        if first <= total <= last and (size <= room or not shown):
            shown.append(numbered(total, line))
            end = total
    if not shown:
        raise ToolError(f"It has {total:,} lines; there is no line {first:,}.")
    rest = min(last, total)
    more = f'; read on with "lines": "{end + 1}..{rest}"' if end < rest else ""
    return "\n".join([*shown, f"[lines {first:,}..{end:,} of {total:,}{more}]"])


def matching(lines: Iterable[str], wanted: str, room: int) -> str:
    """The lines that hold a text, in whatever case, with some around each. Raises `ToolError`."""
    words = wanted.casefold()
    before: deque[tuple[int, str]] = deque(maxlen=AROUND)
    shown: list[str] = []
    size = matches = left_out = total = last = after = 0
    for total, line in enumerate(lines, 1):
        hit = words in line.casefold()
        matches += hit
        if not hit and after == 0:
            before.append((total, line))
            continue
        after = AROUND if hit else after - 1
        piece = [*before, (total, line)] if hit else [(total, line)]
        before.clear()
        size += sum(_size(pattern) for _, pattern in piece)
        if size > room and shown:
            left_out += hit
            continue
        if last and piece[0][0] > last + 1:
            shown.append("--")
        shown += [numbered(number, pattern) for number, pattern in piece]
        last = total
    if not matches:
        raise ToolError(f"None of the {total:,} lines contains {title_line(wanted, 80)!r}.")
    more = f"; {left_out:,} more, search for something rarer" if left_out else ""
    return "\n".join([*shown, f"[{matches:,} of {total:,} lines match{more}]"])


def _readable(arguments: str) -> str:
    """The arguments of a call with the line ends of their texts."""
    given = parsed(arguments)
    if given is None:
        return arguments
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in given.items()
    )


def _size(line: str) -> int:
    return min(len(line), MAX_LINE) + 8

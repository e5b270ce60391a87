"""Command lines as the shell would read them, as far as they are plain enough to be sure."""

import glob
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from pinfold.tools.readers import ReadOnlyCommand, reader

MAX_COMMAND = 100_000
"""Characters. Nothing is said of longer ones."""
MAX_EXPANDED = 1_000
"""Files that a pattern in a command may stand for."""
MAX_WILD = 3
"""Folders in such a pattern that have to be looked through."""

_PIECE = r"""[\w./:@%+=,^~?*\[\]-]++|'[^'\n\r\0]*'|"[^"$`\\!\n\r\0]*\""""
_WORD = rf"(?:{_PIECE})+"
_SIMPLE = rf"[ \t]*{_WORD}(?:[ \t]+{_WORD})*[ \t]*"
"""Words of characters on which no shell acts, save to expand file names."""
_TEXT = re.compile(r"""[^\s;|&()<>'"`$]+""")
_HEAD = re.compile(r"~?[\w./@+-]+")
_QUIET = re.compile(r"(?<![^ \t])(?:2>&1|[12&]?>[ \t]?/dev/null)(?=[ \t;|&]|\Z)")
_JOINED = re.compile(rf"({_SIMPLE})(\|\||\||&&|;|\Z)")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command, its quotes taken off."""

    text: str
    pattern: str | None = None
    """For `glob`, where the shell would put file names in its place. It may match more."""


def words(command: str) -> list[Word]:
    """The words of one command without operators, expansions or assignments; none of others."""
    if len(command) > MAX_COMMAND or not re.fullmatch(_SIMPLE, command):
        return []
    found = [_word(match.group()) for match in re.finditer(_WORD, command)]
    return found if _HEAD.fullmatch(found[0].text) else []


def _word(written: str) -> Word:
    text, pattern, wild = "", "", False
    for match in re.finditer(_PIECE, written):
        piece = match.group()
        if piece[0] in "'\"":
            text += piece[1:-1]
            pattern += glob.escape(piece[1:-1])
        else:
            text += piece
            # What is in brackets differs between shells: anything does.
            pattern += re.sub(r"\[[^/]*", "*", piece)
            wild = wild or not set("*?[").isdisjoint(piece)
    return Word(text, pattern if wild else None)


def texts(command: str) -> list[str]:
    """The words of one plain command, as written; none of others."""
    return [word.text for word in words(command)]


def expanded(found: Sequence[Word], workspace: Path) -> list[str] | None:
    """The words with file names in place of patterns; None where they are too many."""
    out: list[str] = []
    for word in found:
        out.append(word.text)
        if word.pattern is None:
            continue
        if sum(1 for part in word.pattern.split("/")[:-1] if glob.has_magic(part)) > MAX_WILD:
            return None
        names = glob.iglob(word.pattern, root_dir=workspace, include_hidden=True)  # noqa: PTH207
        out += islice(names, MAX_EXPANDED + 1)
        if len(out) > MAX_EXPANDED:
            return None
    return out


def strays(word: str, workspace: Path) -> bool:
    """Whether a word may name a file outside the workspace, links followed.

    A path may also follow an option (`-f/etc/x`, `--file=/etc/x`) or a mark (`host:/etc/x`).
    """
    return any(not path.is_relative_to(workspace) for path in named(word, workspace))


def named(word: str, workspace: Path) -> list[Path]:
    """The files that a word may name, links followed; outside of it where nobody can tell."""
    pieces = {word, *re.split("[=:,@]", word)}
    pieces |= {word[match.end() :] for match in re.finditer("[=:,@]", word)}
    if word.startswith("-"):
        pieces |= {word[start:] for start in range(1, min(len(word), 64))}
    found = []
    for piece in pieces:
        home = piece.startswith("~") and not piece[1:].isdecimal()  # but `@~1` is a commit
        # `.?` and `.*` may match `..`.
        parts = [".." if _may_be_parent(part) else part for part in piece.split("/")]
        path = "/~" if home else "/".join(parts)
        found.append(Path(os.path.realpath(workspace / path)))
    return found


def _may_be_parent(part: str) -> bool:
    return part.startswith(".") and fnmatchcase("..", part)


def says(command: str, prefix: str) -> bool:
    """Whether the words of a prefix are in a command anywhere, one behind the other.

    A command may hide them; that is no boundary.
    """
    found = _TEXT.findall(command[:MAX_COMMAND])
    wanted = _TEXT.findall(prefix)
    bare = [word.rsplit("/", 1)[-1] for word in found]
    return any(
        [bare[at], *found[at + 1 : at + len(wanted)]] == wanted
        for at in range(len(found) - len(wanted) + 1 if wanted else 0)
    )


# Commands that only read


def reads_with(command: str, workspace: Path) -> tuple[ReadOnlyCommand | None, str | None]:
    """The entry of one plain command that may only read, and the word because of which it may not.

    The word is None where there is nothing against it.
    """
    found = words(command)
    written = [word.text for word in found]
    known = reader(written)
    if known is None or any(word.pattern for word in found[: len(known.name.split())]):
        return None, None
    program = shutil.which(written[0])
    if program and Path(os.path.realpath(program)).is_relative_to(workspace):
        return None, None
    after = len(known.name.split())
    if (odd := known.odd(written[after:])) is not None:
        return known, odd
    rest = expanded(found[after:], workspace)
    if rest is None:
        return known, next(word.text for word in found if word.pattern)
    if (odd := next((word for word in rest if not known.allows(word)), None)) is not None:
        return known, odd
    return known, next((word for word in known.paths(rest) if strays(word, workspace)), None)


def is_read_only(command: str, workspace: Path, *, network: bool = False) -> bool:
    """Whether a command line only reads, and in the workspace alone.

    That is: plain commands that do, joined by pipes, `&&`, `||` or `;`, whose output goes nowhere
    else. `network` lets those pass that ask a server. What git's own configuration has it run is
    not looked at.
    """
    if len(command) > MAX_COMMAND:
        return False
    rest = _QUIET.sub(" ", command).strip()
    while rest:
        match = _JOINED.match(rest)
        if match is None or (match.end() == len(rest) and match.group(2) not in ("", ";")):
            return False
        known, odd = reads_with(match.group(1), workspace)
        if known is None or odd is not None or (known.network and not network):
            return False
        rest = rest[match.end() :]
    return bool(command.strip())

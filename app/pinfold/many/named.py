"""The sessions that a command line names: files, folders, globs."""

import argparse
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from pinfold import paths
from pinfold.rollout.journal import ROLLOUT

_ENDINGS = (".jsonl", ".jsonl.zst", ".json")
_OF_A_HOME = {"first_frames", "memories", "memories.db"}
"""What only pinfold's home has beside its sessions."""


class NamedSession(Struct, frozen=True):
    """A session's file."""

    path: str
    within: str
    """The folder that the user named, or the file's."""

    @property
    def name(self) -> str:
        """Its id if it is pinfold's own, else the file's name, with bytes that are no UTF-8
        replaced."""
        folder, file = os.path.split(self.path)
        name = os.path.basename(folder) if file == ROLLOUT else file  # noqa: PTH119
        return name.encode(errors="surrogateescape").decode(errors="replace")

    @property
    def stem(self) -> str:
        """Its path within the folder, without its ending: the name of its result."""
        inner = os.path.relpath(self.path, self.within)
        if os.path.basename(inner) == ROLLOUT:  # noqa: PTH119
            return os.path.dirname(inner) or self.name  # noqa: PTH120
        ending = next((ending for ending in reversed(_ENDINGS) if inner.endswith(ending)), "")
        return inner.removesuffix(".zst").removesuffix(ending.removesuffix(".zst"))


def is_for_many(arguments: argparse.Namespace, words: Sequence[str]) -> bool:
    """Whether a command processes many sessions: `words` may name several, or it says where."""
    several = len(words) > 1 or any(_is_glob(word) or _is_plain_folder(word) for word in words)
    return bool(several or arguments.jobs is not None or arguments.cluster)


def _is_plain_folder(word: str) -> bool:
    path = paths.typed(word)
    return path.is_dir() and not (path / ROLLOUT).is_file()


def named(words: Iterable[str], by_id: Callable[[str], Path]) -> list[NamedSession]:
    """The sessions, each once, in the order of the words; in a folder in the order of their paths.

    `by_id` finds a session by a word that names no file. Raises `FileNotFoundError`, and what
    `by_id` raises.
    """
    found: dict[str, NamedSession] = {}
    for word in words:
        for session in _of_word(word, by_id):
            found.setdefault(session.path, session)
    return list(found.values())


def _of_word(word: str, by_id: Callable[[str], Path]) -> Iterator[NamedSession]:
    if not _is_glob(word) and not paths.is_file_name(word):
        found = by_id(word)
        rollout = found / ROLLOUT if found.is_dir() else found
        yield NamedSession(str(rollout), str(rollout.parent))
        return
    typed = str(paths.typed(word))
    if not os.path.isdir(typed) and not _is_glob(word):  # noqa: PTH112
        yield NamedSession(typed, os.path.dirname(typed))  # noqa: PTH120
        return
    within = str(_before_pattern(Path(typed))) if _is_glob(word) else typed
    every = list(_matching(typed) if _is_glob(word) else below(typed))
    if not every:
        raise FileNotFoundError(f"There are no sessions in {word}.")
    yield from (NamedSession(file, within) for file in every)


def _matching(pattern: str) -> Iterator[str]:
    """The files that match; of a pattern that ends in `*` only those that may be sessions."""
    for hit in sorted(glob.iglob(pattern, recursive=True)):  # noqa: PTH207  may be very many
        if os.path.isdir(hit):  # noqa: PTH112
            yield from below(hit)
        elif not pattern.endswith("*") or hit.endswith(_ENDINGS):
            yield hit


def _is_glob(word: str) -> bool:
    return glob.has_magic(word) and not os.path.lexists(paths.typed(word))


def _before_pattern(path: Path) -> Path:
    parts = path.parts
    first = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first])


def below(folder: str) -> Iterator[str]:
    """The files in a folder that may be sessions.

    Of a session folder of pinfold's that is the rollout, of a home what is in its `sessions`.

    Links to folders are not followed. Raises `OSError`.
    """
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    own = next((entry for entry in entries if entry.name == ROLLOUT and entry.is_file()), None)
    if own is not None:
        yield own.path
        return
    if any(entry.name in _OF_A_HOME for entry in entries):
        entries = [entry for entry in entries if entry.name == "sessions"]
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from below(entry.path)
        elif entry.name.endswith(_ENDINGS) and entry.is_file():
            yield entry.path

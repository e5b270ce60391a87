"""Where memories are on disk, and the lock for changing them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from pinfold.atomic_files import make_folder

MEMORY, SUMMARY, SKILLS = "MEMORY.md", "memory_summary.md", "skills"
RAW, SUMMARIES, EXTENSIONS = "raw_memories.md", "rollout_summaries", "extensions"
DIFF = "phase2_workspace_diff.md"
"""Exists only while a consolidation runs."""
GIT = ".git"
DATABASE = "memories.db"
"""In pinfold's home, beside the folders."""
_PATIENCE = 20.0
"""Seconds to wait for the lock."""


class MemoriesRefused(Exception):
    """The request can't be fulfilled; `str()` is a plain sentence for the user."""


@dataclass(frozen=True, slots=True)
class MemoryPlaces:
    """The folders of memories."""

    files: Path
    """Sessions read it: `MEMORY.md`, `memory_summary.md` and `skills/` are consolidated;
    `raw_memories.md` and `rollout_summaries/` are written from the records."""
    work: Path
    """No session reads it: the agent's folder, a waiting result, the copy for undo, the agent's
    session."""

    @classmethod
    def of(cls, home: Path) -> "MemoryPlaces":
        return cls(home / "memories", home / "memories-work")

    @property
    def result(self) -> Path:
        """A finished consolidation that is not applied."""
        return self.work / "result"

    @property
    def undo(self) -> Path:
        """The files that the last consolidation replaced."""
        return self.work / "undo"

    @property
    def sessions(self) -> Path:
        """The home of the agent's session, separate from the user's."""
        return self.work / "agent"

    def staging(self, token: str) -> Path:
        """The folder in which the agent of one run works."""
        return self.work / f"staging-{token}"

    def unfinished(self) -> list[Path]:
        """Folders that interrupted runs leave."""
        return [self.sessions, *self.work.glob("staging-*"), *self.work.glob("*.tmp")]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the files; blocks. Raises `MemoriesRefused`, `OSError`."""
        make_folder(self.files)
        with locked(self.work):
            yield


@contextmanager
def locked(work: Path) -> Iterator[None]:
    """Hold the lock in `work`; blocks. Raises `MemoriesRefused`, `OSError`."""
    from filelock import FileLock, Timeout

    make_folder(work)
    try:
        with FileLock(work / "lock", timeout=_PATIENCE):
            yield
    except Timeout:
        raise MemoriesRefused("Another pinfold is changing memories; try again.") from None


@cache
def prompt(name: str) -> str:
    """The text of a prompt of memories."""
    return (files("pinfold.memories") / "prompts" / f"{name}.md").read_text("utf-8").strip()


def is_output(name: str) -> bool:
    """Whether a consolidation writes the file."""
    return name in (MEMORY, SUMMARY) or name.startswith(f"{SKILLS}/")

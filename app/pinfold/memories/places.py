"""Where memories lie on the disk, and whose turn it is to change them."""

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
"""There only while a consolidation runs."""
GIT = ".git"
DATABASE = "memories.db"
"""Beside the folders."""
_PATIENCE = 20.0
"""Seconds that one process waits for another's change."""


class MemoriesRefused(Exception):
    """What was asked for can't be done now; `str()` is a plain sentence for the user."""


@dataclass(frozen=True, slots=True)
class MemoryPlaces:
    """The folders of memories."""

    files: Path
    """What sessions read: `MEMORY.md`, `memory_summary.md` and `skills/` are consolidated;
    `raw_memories.md` and `rollout_summaries/` are written from the records."""
    work: Path
    """Beside it, what no session reads: the agent's folder, a result that waits, the copy for undo,
    the agent's own session."""

    @classmethod
    def of(cls, home: Path) -> "MemoryPlaces":
        return cls(home / "memories", home / "memories-work")

    @property
    def result(self) -> Path:
        """A finished consolidation that is not applied yet."""
        return self.work / "result"

    @property
    def undo(self) -> Path:
        """What the last consolidation replaced."""
        return self.work / "undo"

    @property
    def sessions(self) -> Path:
        """The home of the agent's session, apart from the user's."""
        return self.work / "agent"

    def staging(self, token: str) -> Path:
        """The folder that the agent of one run works in."""
        return self.work / f"staging-{token}"

    def unfinished(self) -> list[Path]:
        """What runs work in, and leave where they are cut off."""
        return [self.sessions, *self.work.glob("staging-*"), *self.work.glob("*.tmp")]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Change files alone; blocks. Raises `MemoriesRefused`, `OSError`."""
        make_folder(self.files)
        with locked(self.work):
            yield


@contextmanager
def locked(work: Path) -> Iterator[None]:
    """Change alone what the lock in `work` is for; blocks. Raises `MemoriesRefused`, `OSError`."""
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

"""The folders of a race, as a session asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from pinfold.ports.tool import Observation


@dataclass(frozen=True, slots=True)
class Base:
    """The user's folder as it was when a race began."""

    apart: Literal["worktree", "copy"]
    tree: str
    """Its Git tree."""
    store: Path
    """Holds that tree, where the folder is in no Git repository."""
    left: tuple[str, ...] = ()
    """Repositories in the folder: what is in them does not come along."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that an agent changed, and by how many lines; None for one that is no text."""

    path: str
    added: int | None
    removed: int | None


class RaceFolders(Protocol):
    """Copies of the user's folder, by name, each to work in. All raise `ToolError`."""

    async def base(self, store: Path) -> Base:
        """The folder as it is now; what Git ignores is no part of it."""
        ...

    async def make(self, name: str, base: Base) -> Path:
        """The folder to work in."""
        ...

    async def find(self, name: str, base: Base) -> Path | None:
        """The same, where it is still there."""
        ...

    async def changes(self, name: str, base: Base) -> Sequence[FileChange]: ...

    async def diff(self, name: str, base: Base) -> str: ...

    async def take(
        self, name: str, base: Base, save: Callable[[Path], str]
    ) -> Sequence[Observation]:
        """Bring the changes into the user's folder, all or none: where a file has changed there,
        too, since the start, it says so. `save` keeps a file that is written over; its hash."""
        ...

    async def remove(self, name: str, base: Base) -> None:
        """Remove it with all that is in it."""
        ...

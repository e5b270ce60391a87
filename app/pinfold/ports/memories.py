"""What a session asks of the memories of earlier ones."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from pinfold.rollout.events import MemoryUsed
from pinfold.rollout.memory import MemoryCited, MemoryFile


class CutReply(Struct, frozen=True):
    """A reply without the block in which it cites memories."""

    text: str
    block: str
    cited: tuple[MemoryCited, ...] = ()
    sessions: tuple[str, ...] = ()
    """Ids of sessions, or how they begin, as the model wrote them."""


class MemoryPort(Protocol):
    """What earlier sessions learned. What raises `MemoryFailure` blocks: call it in a thread."""

    @property
    def folder(self) -> Path:
        """Where the files of memories lie; tools may read there without asking."""
        ...

    def front(self, cwd: Path, most: int, count: Callable[[str], int]) -> str:
        """What a session in `cwd` is told, with at most so many tokens of memories; empty where
        there is nothing. Raises `MemoryFailure`."""
        ...

    def notice(self) -> str:
        """What to tell the user of the last `front`, once; empty where there is nothing."""
        ...

    def cut(self, reply: str) -> CutReply | None:
        """A reply without its citations; None where it has none."""
        ...

    def shown(self, streamed: str) -> int:
        """How many characters of a reply under way are surely none of its citations."""
        ...

    def cited(self, cut: CutReply) -> MemoryUsed:
        """What the citations of a reply come to. Raises `MemoryFailure`."""
        ...

    def kind(self, path: Path) -> tuple[MemoryFile, str] | None:
        """What a file of memories is, and its path in their folder; None for any other file."""
        ...

    def count_use(self, sessions: Sequence[str], at: datetime) -> None:
        """Memories of these sessions were used. Raises `MemoryFailure`."""
        ...


class MemoryFailure(Exception):
    """Memories can't be read or counted; `str()` is a plain sentence for the user."""

"""What commands act on: a session, the host, and the screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

# Only names of types: a first paint has no use for the modules behind them.
if TYPE_CHECKING:
    from pinfold.agent.session import Session
    from pinfold.compaction.view import PlanOptions
    from pinfold.host.host import Host
    from pinfold.ports.approver import Approver

Level = Literal["info", "warning", "error"]

Start: TypeAlias = "Callable[[Approver], Awaitable[Session]]"
"""Opens a session. Raises what `failures.EXPECTED` lists."""


class Context(Protocol):
    """What a command can use."""

    @property
    def session(self) -> Session:
        """Raises `CommandError` while there is none yet."""
        ...

    @property
    def host(self) -> Host: ...
    @property
    def themes(self) -> Sequence[str]: ...

    def tell(self, text: str, level: Level = "info") -> None:
        """Print a message in the transcript; the model does not see it."""
        ...

    def preview(self, strategy: str, options: PlanOptions) -> None:
        """Preview the next window."""
        ...

    def open(self, panel: str, argument: str = "") -> None:
        """Open a panel, which interprets the argument."""
        ...

    def show_agent(self, number: int, item: int = 0) -> None:
        """Open the transcript of an agent at one of its items."""
        ...

    def find(self, text: str) -> None:
        """Search the transcript for `text`; if empty, ask for it."""
        ...

    def show(self, n: int) -> None:
        """Go to item `n` in the transcript."""
        ...

    def set_theme(self, name: str) -> None: ...
    def use_statusline(self, command: str) -> None:
        """Let a command of the user's write the status line; an empty one ends that."""
        ...

    def copy(self, text: str) -> None: ...
    async def edit_prompt(self) -> None:
        """Edit the prompt in the user's editor."""
        ...

    def put(self, text: str, pasted: Sequence[str] = ()) -> None:
        """Put `text` at the start of the prompt; `pasted` parts of it were not typed."""
        ...

    def insert(self, text: str) -> None:
        """Insert `text` at the cursor, with spaces around it."""
        ...

    async def switch(self, start: Start) -> None:
        """Switch to another session; if it can't be opened, the old one stays."""
        ...

    async def suspend_job(self) -> None:
        """Suspend the process, as Ctrl+Z does."""
        ...

    async def quit(self) -> None: ...

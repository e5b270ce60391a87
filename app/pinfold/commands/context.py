"""What commands act on: a session, the outside of it, and the screen."""

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
    """What a command may do."""

    @property
    def session(self) -> Session:
        """Raises `CommandError` while there is none yet."""
        ...

    @property
    def host(self) -> Host: ...
    @property
    def themes(self) -> Sequence[str]: ...

    def tell(self, text: str, level: Level = "info") -> None:
        """A message in the transcript that is not part of the window."""
        ...

    def preview(self, strategy: str, options: PlanOptions) -> None:
        """Show the next window before it is made."""
        ...

    def open(self, panel: str, argument: str = "") -> None:
        """Put a panel on top; what the argument means is the panel's."""
        ...

    def show_agent(self, number: int, item: int = 0) -> None:
        """Show the transcript of an agent of the session, at one of its items."""
        ...

    def find(self, text: str) -> None:
        """Look for `text` in the transcript; without one, ask for it."""
        ...

    def show(self, n: int) -> None:
        """Go to item `n` in the transcript."""
        ...

    def set_theme(self, name: str) -> None: ...
    def use_statusline(self, command: str) -> None:
        """Have the user's command write the status line from now on; an empty one, never."""
        ...

    def copy(self, text: str) -> None: ...
    async def edit_prompt(self) -> None:
        """The prompt's text in the user's own editor."""
        ...

    def put(self, text: str, pasted: Sequence[str] = ()) -> None:
        """Put `text` into the prompt, before what is there; `pasted` was not typed."""
        ...

    def insert(self, text: str) -> None:
        """Put `text` into the prompt where the cursor stands, with spaces about it."""
        ...

    async def switch(self, start: Start) -> None:
        """Continue with another session. Where it can't be opened, the old one stays."""
        ...

    async def suspend_job(self) -> None:
        """Stop, and give the terminal back to the shell, until that continues us."""
        ...

    async def quit(self) -> None: ...

"""The app, as panels see it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from textual.screen import Screen

from pinfold.commands.context import Context

Result = TypeVar("Result")


class PanelHost(Context, Protocol):
    """Opens panels and runs what they decide."""

    @property
    def keys(self) -> Mapping[str, str]:
        """The user's own keys, by action."""
        ...

    @property
    def screen(self) -> Screen[Any]: ...
    @property
    def theme(self) -> str: ...

    def push_screen(
        self, screen: Screen[Result], callback: Callable[[Result | None], None] | None = None
    ) -> object: ...

    async def push_screen_wait(self, screen: Screen[Result]) -> Result | None: ...

    def show_agent(
        self, number: int, item: int = 0, back: Callable[[], object] | None = None
    ) -> None:
        """`back` is called when the user closes the transcript."""
        ...

    def attempt(self, doing: Awaitable[None]) -> object:
        """Wait for `doing`, beside all else; where it fails, tell why."""
        ...

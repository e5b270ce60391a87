"""Actions: what a user can do. Slash commands, keys, the palette and the help list them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from pinfold.commands.arguments import Argument, CommandError, read, usage
from pinfold.commands.context import Context

if TYPE_CHECKING:
    from pinfold.agent.session import Session

Group = Literal[
    "session", "model", "window", "agents", "screen", "prompt", "transcript", "approval"
]
LONGEST = 12
"""Columns of arguments in a list of commands."""
Run = Callable[..., Awaitable[None]]


def opens(panel: str, argument: str = "") -> Run:
    """What an action does that opens a panel and takes no arguments."""

    async def run(context: Context) -> None:
        context.open(panel, argument)

    return run


class Action(Struct, frozen=True):
    """Something a user can do."""

    id: str
    """Its name in the `[keys]` section of the config."""
    title: str
    """One line, verb first."""
    group: Group
    slash: tuple[str, ...] = ()
    """Its names behind `/`, the first one preferred."""
    arguments: tuple[Argument, ...] = ()
    """What follows the name."""
    keys: str = ""
    """Keys, comma-separated, as Textual names them."""
    run: Run | None = None
    """Takes the context, and the arguments by name. None: the widget with the focus does it."""
    early: bool = False
    """Whether it works before there is a session."""

    @property
    def usage(self) -> str:
        """How its arguments are written; `…` where that is too long for a list."""
        written = usage(self.arguments, short=True)
        return written if len(written) <= LONGEST else "…"

    def choices(self, context: Context) -> Sequence[str]:
        """What an argument can be, for completion."""
        words = [argument for argument in self.arguments if not argument.is_option]
        values = [
            value
            for word in words
            for value in (word.offers(context) if word.offers else word.choices)
        ]
        return [*values, *(option.names for option in self.arguments if option.is_option)]

    async def carry_out(self, context: Context, text: str = "") -> None:
        """Run it with the arguments in `text`. Raises `CommandError`."""
        assert self.run is not None
        name = f"/{self.slash[0]}" if self.slash else self.title
        await self.run(context, **read(name, self.arguments, text))


def idle(context: Context) -> "Session":
    """The session. Raises `CommandError` while a turn runs in it."""
    from pinfold.agent.record import BUSY

    if context.session.phase != "idle":
        raise CommandError(BUSY)
    return context.session


def writable(context: Context) -> "Session":
    """The session. Raises `CommandError` where it is open read-only."""
    from pinfold.agent.record import READ_ONLY

    if context.session.read_only:
        raise CommandError(READ_ONLY)
    return context.session

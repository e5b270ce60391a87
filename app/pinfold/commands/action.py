"""Actions: all that a user can do. Commands, keys, the palette and the help are views of them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from msgspec import Struct

from pinfold.commands.arguments import Argument, read, usage
from pinfold.commands.context import Context

Group = Literal[
    "session", "model", "window", "agents", "screen", "prompt", "transcript", "approval"
]
LONGEST = 12
"""Columns of arguments in a list of commands."""
Run = Callable[..., Awaitable[None]]


class Action(Struct, frozen=True):
    """Something a user can do."""

    id: str
    """Its name in the `[keys]` section of the config."""
    title: str
    """One line, said as an order."""
    group: Group
    slash: tuple[str, ...] = ()
    """Its names behind `/`, the first one preferred."""
    arguments: tuple[Argument, ...] = ()
    """What it takes behind that."""
    keys: str = ""
    """Keys, comma-separated, as Textual names them."""
    run: Run | None = None
    """Takes the context, and the arguments by name. None where the widget that has the focus does
    it."""
    early: bool = False
    """Whether it needs no session, and so is not to wait for the first one."""

    @property
    def usage(self) -> str:
        """How its arguments are written, in short: what is too long for a list is left out."""
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
        """Do it, with the arguments that are in `text`. Raises `CommandError`."""
        assert self.run is not None
        name = f"/{self.slash[0]}" if self.slash else self.title
        await self.run(context, **read(name, self.arguments, text))

"""Actions: all that a user can do. Commands, keys, the palette and the help are views of them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from msgspec import Struct

from pinfold.commands.context import Context

Group = Literal["session", "model", "window", "screen", "prompt", "transcript", "approval"]
Run = Callable[[Context, str], Awaitable[None]]


class CommandError(Exception):
    """A command can't be carried out; `str()` tells the user why."""


class Action(Struct, frozen=True):
    """Something a user can do."""

    id: str
    """Its name in the `[keys]` section of the config."""
    title: str
    """One line, said as an order."""
    group: Group
    slash: tuple[str, ...] = ()
    """Its names behind `/`, the first one preferred."""
    argument: str = ""
    """How its argument is written, e.g. `[NAME]`."""
    keys: str = ""
    """Keys, comma-separated, as Textual names them."""
    run: Run | None = None
    """Takes the argument. None where the widget that has the focus does it."""
    choices: Callable[[Context], Sequence[str]] | None = None
    """What the argument can be, for completion."""
    early: bool = False
    """Whether it needs no session, and so is not to wait for the first one."""

"""Skills and commands that the user or the project wrote: `/skills`, `/commands`, `/skill`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.action import Action
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context

if TYPE_CHECKING:
    from pinfold.skills.extension import Kind
    from pinfold.skills.library import Library

LIST = Argument("what", metavar="[list]", choices=("list",))


def library_of(context: Context) -> Library:
    """Raises `CommandError` if the session has none."""
    if (library := context.session.library) is None:
        raise CommandError("This session has no skills or custom commands.")
    return library


async def skills(context: Context, what: str | None = None) -> None:
    await _show(context, "skill", what)


async def commands(context: Context, what: str | None = None) -> None:
    await _show(context, "command", what)


async def _show(context: Context, kind: Kind, what: str | None) -> None:
    if what is None:
        context.open("skills", kind)
        return
    from pinfold.commands.skills_text import NONE, lines

    shelf = await asyncio.to_thread(library_of(context).refresh)
    found = lines(shelf.of(kind), context.session.window.count)
    context.tell("\n".join([*found, *shelf.unusable.get(kind, ())]) or NONE[kind])


async def skill(context: Context, name: str = "") -> None:
    if not name:
        context.open("skills")
        return
    from pinfold.closest import suggestion

    known = [one.name for one in library_of(context).shelf.of("skill")]
    raise CommandError(f"There is no skill {name}{suggestion(name, known)}".rstrip("?") + ".")


def _names(context: Context) -> Sequence[str]:
    library = context.session.library
    return [one.name for one in library.shelf.of("skill")] if library is not None else ()


ACTIONS = (
    Action(
        "skills", "List the skills, with their tokens", "agents", ("skills",), (LIST,), run=skills
    ),
    Action(
        "skill",
        "Put a skill's text before your prompt",
        "agents",
        ("skill",),
        (Argument("name", kind="rest", metavar="NAME ...", offers=_names),),
        run=skill,
    ),
    Action(
        "commands",
        "List your own and the project's commands, with their tokens",
        "agents",
        ("commands",),
        (LIST,),
        run=commands,
    ),
)

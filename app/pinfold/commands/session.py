"""Commands on sessions."""

import asyncio
from functools import partial
from pathlib import Path

from pinfold import paths
from pinfold.commands.action import Action, CommandError
from pinfold.commands.context import Context

_ITS_FOLDER = "--use-its-folder"
_COMPACTED = "A compacted copy: /fork --compact [--strategy S] [--model M]."


async def new(context: Context, _: str) -> None:
    await context.switch(context.host.new)


async def fork(context: Context, argument: str) -> None:
    session, at = context.session, argument.removeprefix("#")
    if session.phase != "idle":
        raise CommandError("A turn is running: press Esc first, or wait for its end.")
    if argument.startswith("--"):
        strategy, model = _handed_on(argument)
        await context.switch(partial(context.host.hand_on, session.folder, strategy, model))
        context.tell(f"A compacted copy of session {session.id}, which stays as it is.")
        return
    if at and not at.isdecimal():
        raise CommandError(
            f"/fork takes the number of an item, such as /fork 12, or --compact, not “{argument}”."
        )
    await context.switch(partial(context.host.fork, session.folder, int(at) if at else None))
    context.tell(f"Forked from session {session.id}{f' at #{at}' if at else ''}.")


def _handed_on(argument: str) -> tuple[str | None, str | None]:
    """Strategy and model of `--compact [--strategy S] [--model M]`."""
    words = argument.split()
    if words[0] != "--compact" or len(words) % 2 == 0:
        raise CommandError(_COMPACTED)
    given = dict(zip(words[1::2], words[2::2], strict=True))
    if not given.keys() <= {"--strategy", "--model"}:
        raise CommandError(_COMPACTED)
    return given.get("--strategy"), given.get("--model")


async def resume(context: Context, argument: str) -> None:
    if not argument:
        context.open("sessions")
        return
    if argument == context.session.id:
        raise CommandError("You are in this session.")
    await context.switch(partial(context.host.resume, argument))


async def adopt(context: Context, argument: str) -> None:
    name = argument.removesuffix(_ITS_FOLDER).strip()
    its_folder, argument = name != argument, name
    if not (argument and paths.is_file_name(argument, context.session.cwd)):
        context.open("adoptable", argument)
        return
    await take(context, paths.typed(argument, context.session.cwd), its_folder=its_folder)


async def take(context: Context, file: Path, *, its_folder: bool = False) -> None:
    """Go on with a copy of another tool's session."""
    adopting = partial(context.host.adopt, file, its_folder=its_folder)
    session_id, said = await asyncio.to_thread(adopting)
    await context.switch(partial(context.host.resume, session_id))
    context.tell(said)


async def trust(context: Context, _: str) -> None:
    context.tell(await asyncio.to_thread(context.host.trust))


ACTIONS = (
    Action("new", "Begin a new session", "session", ("new",), run=new),
    Action(
        "resume",
        "Go on with an earlier session",
        "session",
        ("resume", "sessions"),
        "[ID]",
        run=resume,
    ),
    Action(
        "adopt",
        "Go on with a session of Codex, Claude Code or another file",
        "session",
        ("adopt",),
        "[FILE|TEXT]",
        run=adopt,
    ),
    Action(
        "fork",
        "Go on in a copy of this session",
        "session",
        ("fork",),
        "[N|--compact]",
        run=fork,
        choices=lambda _: ("--compact",),
    ),
    Action("trust", "Trust this folder's own config file", "session", ("trust",), run=trust),
)

"""Commands on sessions."""

import asyncio
from functools import partial
from pathlib import Path

from pinfold import paths
from pinfold.commands.action import Action, idle
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context

USE_ITS_FOLDER = Argument(
    "--use-its-folder", "work in the folder it names, not in this one", kind="flag"
)
_COMPACTED = "A compacted copy: /fork --compact [--strategy S] [--model M]."


async def new(context: Context) -> None:
    await context.switch(context.host.new)


async def fork(
    context: Context,
    n: str | None = None,
    *,
    compact: bool = False,
    strategy: str | None = None,
    model: str | None = None,
) -> None:
    from pinfold.window.selectors import check_own

    session, at = idle(context), (n or "").removeprefix("#")
    if compact and not at:
        await context.switch(partial(context.host.hand_on, session.folder, strategy, model))
        context.tell(f"A compacted copy of session {session.id}, which is unchanged.")
        return
    if compact or strategy or model:
        raise CommandError(_COMPACTED)
    check_own(at)
    if at and not at.isdecimal():
        raise CommandError(
            f"/fork takes the number of an item, such as /fork 12, or --compact, not “{n}”."
        )
    await context.switch(partial(context.host.fork, session.folder, int(at) if at else None))
    context.tell(f"Forked from session {session.id}{f' at #{at}' if at else ''}.")


async def resume(context: Context, session: str = "") -> None:
    if not session:
        context.open("sessions")
        return
    if session == context.session.id:
        raise CommandError("You are in this session.")
    await context.switch(partial(context.host.resume, session))


async def adopt(context: Context, text: str = "", *, use_its_folder: bool = False) -> None:
    if not (text and paths.is_file_name(text, context.session.cwd)):
        context.open("adoptable", text)
        return
    await take(context, paths.typed(text, context.session.cwd), its_folder=use_its_folder)


async def take(context: Context, file: Path, *, its_folder: bool = False) -> None:
    """Continue with a copy of another tool's session."""
    adopting = partial(context.host.adopt, file, its_folder=its_folder)
    session_id, said = await asyncio.to_thread(adopting)
    await context.switch(partial(context.host.resume, session_id))
    context.tell(said)


async def trust(context: Context) -> None:
    context.tell(await asyncio.to_thread(context.host.trust))


ACTIONS = (
    Action(
        "new",
        "Start a new session; this one is saved",
        "session",
        ("new", "clear"),
        run=new,
    ),
    Action(
        "resume",
        "Resume an earlier session",
        "session",
        ("resume", "sessions"),
        (Argument("session", kind="rest", metavar="ID"),),
        run=resume,
    ),
    Action(
        "adopt",
        "Continue a session of Codex, Claude Code or another file",
        "session",
        ("adopt",),
        (Argument("text", kind="rest", metavar="FILE|TEXT"), USE_ITS_FOLDER),
        run=adopt,
    ),
    Action(
        "fork",
        "Continue in a fork of this session",
        "session",
        ("fork",),
        (
            Argument("n"),
            Argument("--compact", kind="flag"),
            Argument("--strategy", metavar="S"),
            Argument("--model", metavar="M"),
        ),
        run=fork,
    ),
    Action("trust", "Trust this folder's own config file", "session", ("trust",), run=trust),
)

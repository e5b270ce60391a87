"""`/init`: the agent writes an AGENTS.md."""

import asyncio
from importlib.resources import files

from pinfold.commands.action import Action
from pinfold.commands.arguments import CommandError
from pinfold.commands.context import Context


async def init(context: Context) -> None:
    session = context.session
    if session.phase != "idle":
        raise CommandError("A turn is running: press Esc first, or wait for its end.")
    if not session.model.tools:
        raise CommandError(f"{session.model.name} has no tools to look at the repository with.")
    text = files("pinfold.agent.context").joinpath("prompts", "init.md")
    session.send((await asyncio.to_thread(text.read_text, "utf-8")).strip(), ours=True)


ACTIONS = (
    Action(
        "init",
        "Have the agent write an AGENTS.md, or improve it",
        "session",
        ("init",),
        run=init,
    ),
)

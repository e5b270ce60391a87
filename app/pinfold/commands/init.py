"""`/init`: the agent writes an AGENTS.md."""

import asyncio
from importlib.resources import files

from pinfold.commands.action import Action, idle
from pinfold.commands.arguments import CommandError
from pinfold.commands.context import Context


async def init(context: Context) -> None:
    session = idle(context)
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

"""`/core`: what every compaction tells again."""

from pinfold.commands.action import Action
from pinfold.commands.context import Context


async def core(context: Context) -> None:
    context.open("core")


ACTIONS = (
    Action(
        "core",
        "See and change what is repeated after every compaction",
        "window",
        ("core",),
        run=core,
    ),
)

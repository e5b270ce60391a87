"""`/eval`: what each strategy would keep of this session."""

from pinfold.commands.action import Action
from pinfold.commands.context import Context


async def evaluate(context: Context) -> None:
    context.open("eval")


ACTIONS = (
    Action(
        "eval",
        "Compare what strategies would keep of this session",
        "window",
        ("eval",),
        run=evaluate,
    ),
)

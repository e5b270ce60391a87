"""`/eval`: what each strategy would keep of this session."""

from pinfold.commands.action import Action, CommandError
from pinfold.commands.context import Context


async def evaluate(context: Context, argument: str) -> None:
    if argument:
        raise CommandError("/eval takes nothing; files are for: pinfold eval FILE.")
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

"""`/rewind`: goes back to before one of the user's prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold.commands.action import Action, idle
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context
from pinfold.rollout import provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pinfold.agent.session import Session
    from pinfold.commands.look_back import LookBack
    from pinfold.ports.approver import Approver
    from pinfold.tools.restore import Undo


async def rewind(context: Context, n: str = "") -> None:
    from pinfold.window.selectors import check_own

    given, n = n, n.removeprefix("#")
    check_own(n)
    if n and not n.isdecimal():
        raise CommandError(
            f"/rewind takes the number of a prompt, such as /rewind 12, not “{given}”."
        )
    idle(context)
    context.open("rewind", n)


async def go_back(context: Context, past: LookBack, n: int, undos: Sequence[Undo]) -> None:
    """Continue in a fork that ends before prompt `n`, with its text in the prompt line.

    `undos` are the file changes to undo as well.
    """
    from pinfold.ports.tool import ToolError

    old, prompt = context.session, past.prompt(n)
    undone = ""

    async def start(approver: Approver) -> Session:
        nonlocal undone
        session = await context.host.rewind(old.folder, n, approver)
        if undos:
            try:
                undone = await session.files.undo(undos)
            except ToolError as error:
                undone = str(error)
        return session

    await context.switch(start)
    context.put(prompt.content, provenance.pasted(prompt))
    context.tell(f"Rewound to before #{n}. The session as it was: /resume {old.id}")
    if undone:
        context.tell(undone)
    if commands := past.commands(n):
        context.tell(not_undone(commands))


def not_undone(commands: int) -> str:
    """A sentence on commands that ran."""
    if commands == 1:
        return "1 command ran; what it changed is not undone."
    return f"{commands} commands ran; what they changed is not undone."


ACTIONS = (
    Action(
        "rewind",
        "Rewind to before one of your prompts, in a fork",
        "session",
        ("rewind",),
        (Argument("n", kind="rest"),),
        run=rewind,
    ),
)

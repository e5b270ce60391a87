"""Commands that the agent runs in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.action import Action
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context
from pinfold.numbers import duration, tokens
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.tools.jobs import BackgroundJob

TOKEN = 4
"""Bytes of a token, roughly."""


async def jobs(context: Context, what: Sequence[str] = ()) -> None:
    match list(what):
        case []:
            known = context.session.jobs.known
            context.tell(
                "\n".join(map(_line, known)) or "No commands are running in the background."
            )
        case ["kill", number] if number.isdecimal():
            from pinfold.ports.tool import ToolError

            try:
                await context.session.jobs.kill(int(number), "killed by the user")
            except ToolError as error:
                raise CommandError(str(error)) from error
        case _:
            raise CommandError("/jobs lists the background commands; /jobs kill 1 ends one.")


def _line(job: BackgroundJob) -> str:
    ended = job.reason or f"exit code {job.exit_code}"
    state = (
        f"running for {duration(job.seconds)}"
        if job.runs
        else f"{ended} after {duration(job.seconds)}"
    )
    unread = (job.size - job.seen) // TOKEN
    left = f", {tokens(unread)} tokens unread" if unread else ""
    return f"{job.number}  {one_line(job.command)} · {state}{left} · {job.path}"


ACTIONS = (
    Action(
        "jobs",
        "List background commands",
        "session",
        ("jobs",),
        (Argument("what", metavar="kill N", kind="words", offers=lambda _: ("kill",)),),
        run=jobs,
    ),
)

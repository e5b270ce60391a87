"""Agents that the model or the user started: `/agents`, `/review`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.action import Action
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context
from pinfold.numbers import duration
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.agent.children.children import Children
    from pinfold.rollout.events import ChildStarted

USE = "/agents lists them; /agents 1 shows what one did, /agents stop 1 ends it."
REVIEW = (
    "Review the uncommitted changes in the working directory: `git status --short` and "
    "`git diff HEAD` name them, untracked files belong to them."
)


async def agents(context: Context, what: Sequence[str] = ()) -> None:
    children = context.session.children
    match [word.removeprefix("a") if word[1:].isdecimal() else word for word in what]:
        case []:
            lines = [_line(children, child) for child in children.known]
            context.tell("\n".join(lines) or "No agent was started in this session.")
        case [number] if _known(children, number):
            context.show_agent(int(number))
        case ["stop", number] if _known(children, number):
            if children.end(int(number)) is not None:
                raise CommandError(f"Agent a{number} has ended already.")
            children.stop(int(number), "the user stopped it")
        case _:
            raise CommandError(USE)


async def review(context: Context) -> None:
    from pinfold.ports.tool import ToolError
    from pinfold.rollout.events import ChildStarted

    session = context.session
    if session.read_only:
        raise CommandError("This session is open to read only. Fork it to go on: /fork.")
    started = ChildStarted(
        child=0,
        session="",
        agent="review",
        description="review the working tree",
        call_id="",
        background=True,
    )
    try:
        child = await session.children.start(started, REVIEW)
    except ToolError as error:
        raise CommandError(str(error)) from error
    context.tell(
        f"Agent {child.name} reviews the working tree; /agents {child.number} shows what it does, "
        "and then what it found. The model is told with your next prompt."
    )


def _known(children: Children, number: str) -> bool:
    return number.isdecimal() and int(number) in {child.child for child in children.known}


def _line(children: Children, child: ChildStarted) -> str:
    live = children.live(child.child)
    if live is None or live.finished is not None:
        return f"{one_line(child.description)}  {children.summary(child.child)}"
    seconds = duration(children.seconds(live))
    return (
        f"{live.name}  {one_line(child.description)} · {seconds} · {children.summary(child.child)}"
    )


ACTIONS = (
    Action(
        "agents",
        "List the agents, with what they do and cost",
        "session",
        ("agents",),
        (Argument("what", metavar="[stop] N", kind="words", offers=lambda _: ("stop",)),),
        run=agents,
    ),
    Action(
        "review",
        "Have an agent review the working tree",
        "session",
        ("review",),
        run=review,
    ),
)

"""Agents that the model or the user started: `/agents`, `/review`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.action import Action, writable
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context
from pinfold.numbers import duration
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.agent.children.children import Children
    from pinfold.rollout.events import ChildStarted

USE = (
    "/agents opens the panel; /agents 1 opens the transcript of one, /agents a1#12 at an item, "
    "/agents stop 1 ends it, /agents list lists them here."
)
_ITEM = re.compile(r"a?(\d{1,6})(?:#(\d{1,9}))?")
REVIEW = (
    "Review the uncommitted changes in the working directory: `git status --short` and "
    "`git diff HEAD` name them, untracked files belong to them."
)


async def agents(context: Context, what: Sequence[str] = ()) -> None:
    children = context.session.children
    match list(what):
        case []:
            context.open("agents")
        case ["list"]:
            lines = [_line(children, child) for child in children.known]
            context.tell("\n".join(lines) or "No agent was started in this session.")
        case [one] if named := _ITEM.fullmatch(one):
            context.show_agent(_known(children, named[1]), int(named[2] or 0))
        case ["stop", one] if named := _ITEM.fullmatch(one):
            number = _known(children, named[1])
            if children.end(number) is not None:
                raise CommandError(f"Agent a{number} has already ended.")
            children.stop(number, "the user stopped it")
        case _:
            raise CommandError(USE)


async def review(context: Context) -> None:
    from pinfold.ports.tool import ToolError
    from pinfold.rollout.events import ChildStarted

    session = writable(context)
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


def _known(children: Children, number: str) -> int:
    known = [child.child for child in children.known]
    if int(number) not in known:
        there = ", ".join(f"a{n}" for n in known) or "none"
        raise CommandError(f"There is no agent a{int(number)}. There are: {there}.")
    return int(number)


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
        "See the agents: what they do and cost, their transcripts",
        "agents",
        ("agents",),
        (
            Argument(
                "what", metavar="N|stop N|list", kind="words", offers=lambda _: ("list", "stop")
            ),
        ),
        run=agents,
    ),
    Action(
        "review",
        "Have an agent review the working tree",
        "agents",
        ("review",),
        run=review,
    ),
)

"""Races between agents: `/race`."""

from __future__ import annotations

import re

from pinfold.commands.action import Action
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context
from pinfold.sanitize import one_line

USE = (
    "/race 2 PROMPT has two agents answer the same prompt (up to 4; --model A,B gives each a "
    "model), /race compares them, /race bring a2#12 puts an item of one into the window."
)
_START = re.compile(r"(\d+)\s+(?:--model[=\s]\s*(\S+)\s+)?(.+)", re.DOTALL)
_BRING = re.compile(r"bring\s+a?(\d{1,6})#(\d{1,9})")


async def race(context: Context, what: str = "") -> None:
    from pinfold.ports.tool import ToolError

    try:
        if not what:
            if not context.session.races.known:
                raise CommandError(f"There was no race in this session. {USE}")
            context.open("race")
        elif found := _BRING.fullmatch(what):
            agent, item = int(found[1]), int(found[2])
            number = await context.session.races.bring(agent, item)
            context.tell(f"Item {item} of agent a{agent} is #{number} of the window.")
        elif begins := _START.fullmatch(what):
            await _start(context, int(begins[1]), begins[2] or "", begins[3])
        else:
            raise CommandError(USE)
    except ToolError as error:
        raise CommandError(str(error)) from error


async def _start(context: Context, count: int, models: str, prompt: str) -> None:
    from pinfold.agent.children.races import FEWEST, MOST

    if not FEWEST <= count <= MOST:
        raise CommandError(f"A race has {FEWEST} to {MOST} agents, not {count}.")
    names = [name for name in models.split(",") if name]
    if names and len(names) != count:
        raise CommandError(f"--model names {len(names)} models for {count} agents.")
    base = await context.session.races.start(prompt, count, names)
    how = "in its own Git worktree"
    if base.apart == "copy":
        how = "in a copy of the folder, which is in no Git repository with a commit"
    context.tell(
        f"{count} agents work on this, each in a fork of the window and {how}. Your folder stays "
        "as it is. /race compares them."
    )
    if base.left:
        names = [one_line(name) for name in base.left[:5]]
        context.tell(f"Not copied, because they are repositories: {', '.join(names)}.", "warning")


ACTIONS = (
    Action(
        "race",
        "Have several agents answer one prompt; compare them, keep one",
        "agents",
        ("race",),
        (
            Argument(
                "what",
                metavar="2 [--model A,B] PROMPT|bring a2#12",
                kind="rest",
                offers=lambda _: ("2", "bring"),
            ),
        ),
        run=race,
    ),
)

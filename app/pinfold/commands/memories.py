"""`/memories`: what earlier sessions learned."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.action import Action, opens
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context

if TYPE_CHECKING:
    from pinfold.agent.session import Session
    from pinfold.memories.keeper import CitedItem
    from pinfold.memories.statements import Citation


async def memories(context: Context, action: str = "") -> None:
    host = context.host.memories
    match action:
        case "":
            context.open("memories")
        case "run":
            context.tell("Memories are being made in the background.")
            context.tell(await host.run({context.session.id}))
        case "on" | "off":
            context.tell(await asyncio.to_thread(host.switch, on=action == "on"))
        case "clear":
            context.open("memories", "clear")


ACTIONS = (
    Action(
        "memories",
        "See, review or forget what earlier sessions learned",
        "session",
        ("memories",),
        (Argument("action", kind="rest", choices=("run", "on", "off", "clear")),),
        run=memories,
    ),
    Action(
        "memory_source",
        "Show the sources of the last reply from memory",
        "session",
        ("source",),
        keys="f3",
        run=opens("memories", "source"),
    ),
)


def cited(session: Session) -> list[Citation]:
    """What the last reply from memory cites. Raises `CommandError`."""
    from pinfold.memories.statements import cited as cited_in

    found = list(cited_in(" ".join(session.cited)))
    if not found:
        raise CommandError("No reply of this session has cited a memory yet.")
    return found


def source_page(found: Sequence[CitedItem]) -> tuple[str, str]:
    """Title and text of the items that a memory cites."""
    from pinfold.commands.context_text import KINDS
    from pinfold.numbers import ID_SHOWN
    from pinfold.sanitize import clean, one_line

    parts: list[str] = []
    for session in found:
        head = f"session {one_line(session.cited.session)[:ID_SHOWN]} in {one_line(session.cwd)}"
        if session.quoted:
            parts.append(f"── #{session.cited.item}, {head} ──\n{clean(session.quoted)}")
        elif not session.items:
            parts.append(f"── #{session.cited.item}, {head} ──\n{one_line(session.why)}")
        for item in session.items:
            name = f" {one_line(item.name)}" if item.name else ""
            parts.append(f"── #{item.n} {KINDS[item.kind]}{name}, {head} ──\n{clean(item.content)}")
    title = ", ".join(f"#{session.cited.item}" for session in found)
    return f"Source: {title}", "\n\n".join(parts)

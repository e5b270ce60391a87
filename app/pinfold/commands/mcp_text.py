"""MCP servers as text, for the panel and `/mcp list`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct

from pinfold.numbers import tokens
from pinfold.sanitize import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pinfold.agent.servers.in_session import SessionServers
    from pinfold.ports.servers import ServerState, ServerTool
    from pinfold.window.overview import ContextRow

SIGNS = {"ready": "●", "starting": "◌", "waiting": "?", "failed": "✗", "stopped": "○"}
WHY = {
    "user": "folded",
    "budget": "folded: above the budget",
    "new": "folded: new or changed",
    "stopped": "folded: was not running",
    "schema": "folded: its schema was refused",
}


class ServerLine(Struct, frozen=True):
    """A server, for a line."""

    name: str
    state: str
    tools: int
    tokens: int
    """Of each request."""
    note: str
    """Why it does not run, what it asks, or that it is folded."""

    @property
    def sign(self) -> str:
        return SIGNS[self.state]


def server_lines(servers: SessionServers, rows: Sequence[ContextRow]) -> list[ServerLine]:
    """`rows` are those before the window."""
    costs = {(row.part, row.name): row.tokens for row in rows}
    front = servers.front()
    found = []
    for state in servers.states():
        listed = front.get(state.name)
        cost = costs.get(("servers", state.name), 0)
        cost += sum(costs.get(("tools", tool.wire), 0) for tool in (listed.tools if listed else ()))
        lists = servers.listing.lists(state.name)
        note = one_line(state.why)
        if state.question is not None:
            note = one_line(state.question.title)
        elif not note and listed is not None and listed.folded:
            note = WHY.get(listed.folded, listed.folded)
        elif not note and listed is None and state.state == "ready":
            note = "not in the requests yet: find_tools finds it"
        elif not note and listed is not None:
            some = sum(1 for tool in listed.tools if tool.folded)
            note = f"{some} folded" if some else ""
        found.append(
            ServerLine(
                one_line(state.name), state.state, len(lists.tools) if lists else 0, cost, note
            )
        )
    return found


def text(lines: Sequence[ServerLine]) -> str:
    """One line for each server."""
    width = max((len(line.name) for line in lines), default=0)
    return "\n".join(
        f"{line.sign} {line.name:<{width}}  {line.state:<8}  {line.tools:>3} tools"
        f"  {tokens(line.tokens):>6} tokens  {line.note}".rstrip()
        for line in lines
    )


def page(servers: SessionServers, name: str, rows: Sequence[ContextRow]) -> str:
    """A server's state, texts, and tools with their tokens."""
    state = servers.port.state(name)
    lists = servers.listing.lists(name)
    costs = {row.name: row.tokens for row in rows if row.part == "tools"}
    listed = servers.front().get(name)
    whose = "yours" if state.source == "user" else "of this project"
    parts = [f"{state.state}, {whose}" + (f": {clean(state.why)}" if state.why else "")]
    if lists is None:
        parts.append("What it offers is unknown or waiting for your approval.")
        return "\n\n".join(parts)
    if lists is not state:
        parts.append("What it offered last time:")
    if lists.instructions:
        parts.append(f"── instructions ──\n{clean(lists.instructions)}")
    wires = {tool.name: tool for tool in listed.tools} if listed is not None else {}
    for tool in lists.tools:
        front = wires.get(tool.name)
        parts.append(_tool(tool, costs.get(front.wire, 0) if front else 0))
    if lists.prompts:
        lines = [f"/mcp:{name}:{p.name}  {p.description}".rstrip() for p in lists.prompts]
        parts.append(clean("── prompts ──\n" + "\n".join(lines)))
    if lists.resources:
        lines = [f"@{name}:{r.uri}  {r.title or r.name}".rstrip() for r in lists.resources]
        parts.append(clean("── resources ──\n" + "\n".join(lines)))
    return "\n\n".join(parts)


def _tool(tool: ServerTool, cost: int) -> str:
    from pinfold.agent.servers.tools import claims

    said = claims(tool.annotations)
    facts = [f"{cost:,} tokens" if cost else "folded", *([f"it says: {said}"] if said else [])]
    try:
        schema = json.dumps(tool.schema, indent=2, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        schema = "(its schema can't be shown)"
    about = f"{tool.title}\n{tool.description}".strip()
    return clean(f"── {tool.name} ({', '.join(facts)}) ──\n{about}\n{schema}")


def question(state: ServerState) -> str:
    """The text that a server's question is about."""
    asked = state.question
    assert asked is not None
    return clean("\n\n".join(part for part in (asked.diff, asked.text) if part))

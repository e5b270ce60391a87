"""Tokens of items and of the context, as a request carries them.

The text is counted; what the wire puts around it is not published, so it is approximated by the
constants below.
"""

from typing import Literal

import msgspec

from pinfold.rollout.events import Context
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

WireApi = Literal["responses", "chat"]

MESSAGE = 4
"""Around a message: its role and its ends (OpenAI's cookbook has 3 or 4)."""
CALL = {"chat": 10, "responses": 12}
"""Around the name and arguments of a tool call."""
RESULT = {"chat": 6, "responses": 9}
"""Around a tool's result."""
TOOL = {"chat": 10, "responses": 8}
"""Around a tool's schema, beyond its JSON; on the chat wire it is nested once more."""
REPLY = 3
"""What makes the model answer, once a request."""


def count_item(counter: Counter, item: Item, wire_api: WireApi, *, own: bool = True) -> int:
    """Tokens of `item` in a request; `own` says whether the model that is asked wrote it."""
    match item.kind:
        case "reasoning" | "compaction" if not own:
            return 0
        case "tool_call":
            return counter.count(item.name or "") + counter.count(item.content) + CALL[wire_api]
        case "tool_result":
            return counter.count(item.content) + RESULT[wire_api]
        case "reasoning" if item.opaque is None:
            return 0  # it can't be sent back
        case _:
            return counter.count(item.content) + MESSAGE


def context_parts(counter: Counter, context: Context, wire_api: WireApi) -> dict[str, int]:
    """Tokens of what stands before the window, by the part that brings them."""

    def count(*texts: str) -> int:
        return sum(counter.count(text) + MESSAGE for text in texts if text)

    schemas = [msgspec.json.encode(tool).decode() for tool in context.tools]
    return {
        # What every request adds of its own is here too.
        "instructions": count(context.instructions, context.environment) + REPLY,
        "AGENTS.md": count(*(f"{file.path}\n{file.text}" for file in context.agents)),
        "tools": sum(counter.count(schema) + TOOL[wire_api] for schema in schemas),
    }


def count_context(counter: Counter, context: Context, wire_api: WireApi) -> int:
    """Tokens of all that stands before the window."""
    return sum(context_parts(counter, context, wire_api).values())

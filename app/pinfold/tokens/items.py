"""Tokens of items and of the context, as a request carries them.

The text is counted; what the wire puts around it is its `Overhead`.
"""

from pinfold.rollout.context import Context
from pinfold.rollout.items import Item
from pinfold.settings import WireApi
from pinfold.tokens.counter import Counter
from pinfold.tokens.images import count_image
from pinfold.wire.wires import wire_of

SKILLS = "skills"
"""The name of the skill index among the instructions."""
MESSAGE = 4
"""Around a message: its role and its ends."""
SEALED = {"reasoning": (900, 6.6), "compaction": (1250, 8.2)}
"""Of an encrypted item: characters that hold no text, and characters a token beyond those."""


def count_item(
    counter: Counter, item: Item, wire_api: WireApi, *, own: bool = True, model: str = ""
) -> int:
    """Tokens of `item` in a request to `model`, by whose rule pictures count.

    `own` says whether reasoning and compactions go back to it: it must have written them.
    """
    if item.kind in SEALED:
        return _opaque(counter, item, wire_api) if own else 0
    text = counter.count(item.content)
    pictures = sum(count_image(image, model) for image in item.images)
    match item.kind:
        case "tool_call":
            return counter.count(item.name or "") + text + wire_of(wire_api).overhead.call
        case "tool_result":
            return text + pictures + wire_of(wire_api).overhead.result
        case "assistant":
            return text + wire_of(wire_api).overhead.assistant
        case _:
            return text + pictures + MESSAGE


def _opaque(counter: Counter, item: Item, wire_api: WireApi) -> int:
    """Tokens of what goes back in the provider's own form, as `wire` sends it."""
    opaque = item.opaque or {}
    sealed = opaque.get("encrypted_content")
    wire = wire_of(wire_api).overhead
    if wire.sealed and isinstance(sealed, str):
        plain, characters = SEALED[item.kind]
        return max(round((len(sealed) - plain) / characters), 0)
    return counter.count(item.content) if opaque.get(wire.readable) else 0


def context_rows(
    counter: Counter, context: Context, wire_api: WireApi
) -> list[tuple[str, str, int]]:
    """What is before the window, each piece as part, name and tokens."""

    def count(text: str) -> int:
        return counter.count(text) + MESSAGE if text else 0

    wire = wire_of(wire_api).overhead
    around = wire.reply + (wire.tools if context.tools else 0)
    return [
        # What every request adds is counted here too.
        ("instructions", "instructions", count(context.instructions) + around),
        *(("AGENTS.md", file.path, count(f"{file.path}\n{file.text}")) for file in context.agents),
        ("instructions", "environment", count(context.environment)),
        *([("instructions", SKILLS, count(context.skills.told))] if context.skills else []),
        *(
            [("memories", "what earlier sessions learned", count(context.remembered))]
            if context.memories is not None and context.memories.text
            else []
        ),
        *(("servers", server.name, count(server.text)) for server in context.servers),
        *(("tools", t.name, counter.count(wire.schema(t)) + wire.tool) for t in context.tools),
    ]


def context_parts(counter: Counter, context: Context, wire_api: WireApi) -> dict[str, int]:
    """Tokens of what is before the window, by part."""
    parts = {"instructions": 0, "AGENTS.md": 0, "tools": 0, "servers": 0, "memories": 0}
    for part, _, tokens in context_rows(counter, context, wire_api):
        parts[part] += tokens
    return parts


def is_known(item: Item) -> bool:
    """Whether `count_item` sees what it counts; a server's compaction is unreadable."""
    return item.kind != "compaction"

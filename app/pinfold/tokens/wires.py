"""What each wire puts around the text of a request, in tokens.

That is not published: the figures were fitted to what OpenAI's servers report, GPT-4o's on the chat
wire, GPT-5's on the other.
"""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from pinfold.rollout.events import ToolSchema
from pinfold.settings import WireApi
from pinfold.tokens.schemas import declaration


class WireCounts(Struct, frozen=True):
    """Tokens, and what is counted."""

    assistant: int
    """Around the model's own message: models that reason name its channel too."""
    call: int
    """Around the name and arguments of a tool call."""
    result: int
    """Around a tool's result."""
    tool: int
    """Around a tool's schema, as the server shows it to the model."""
    tools: int
    """Around all of them."""
    reply: int
    """What makes the model answer, once a request."""
    schema: Callable[[ToolSchema], str]
    """A tool's schema as it is counted."""
    readable: str
    """The key of an opaque item that says that its text goes back."""
    sealed: bool
    """Whether encrypted items go back."""
    past_reasoning: bool
    """Whether the reasoning of earlier turns goes back."""


def _as_json(tool: ToolSchema) -> str:
    return msgspec.json.encode(tool).decode()


WIRES: Mapping[WireApi, WireCounts] = {
    "chat": WireCounts(
        assistant=4,
        call=10,
        result=6,
        tool=10,
        tools=0,
        reply=3,
        schema=_as_json,
        readable="field",
        sealed=False,
        past_reasoning=True,
    ),
    "responses": WireCounts(
        assistant=6,
        call=13,
        result=9,
        tool=-2,
        tools=16,
        reply=2,
        schema=declaration,
        readable="content",
        sealed=True,
        past_reasoning=False,
    ),
}

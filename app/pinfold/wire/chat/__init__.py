"""Chat Completions. The figures are fitted to what OpenAI's servers report of GPT-4o."""

import msgspec

from pinfold.rollout.context import ToolSchema
from pinfold.wire.chat.body import OPTIONAL, body
from pinfold.wire.chat.stream import ChatStream
from pinfold.wire.wires import CountEndpoint, Overhead, Wire

PATH = "/chat/completions"


def _as_json(tool: ToolSchema) -> str:
    return msgspec.json.encode(tool).decode()


WIRE = Wire(
    PATH,
    body,
    ChatStream,
    Overhead(
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
    OPTIONAL,
    # llama.cpp counts, and is never far away.
    counting=CountEndpoint(f"{PATH}/input_tokens", frozenset({"model", "messages", "tools"})),
)

"""Responses. The figures are fitted to what OpenAI's servers report of GPT-5."""

from pinfold.wire.caching import KEY
from pinfold.wire.responses.body import OPTIONAL, body
from pinfold.wire.responses.compaction import read_compaction
from pinfold.wire.responses.declaration import declaration
from pinfold.wire.responses.stream import ResponsesStream
from pinfold.wire.wires import CompactionEndpoint, CountEndpoint, Overhead, Wire

PATH = "/responses"
_READ = frozenset({"model", "input", "instructions"})

WIRE = Wire(
    PATH,
    body,
    ResponsesStream,
    Overhead(
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
    OPTIONAL,
    counting=CountEndpoint(f"{PATH}/input_tokens", _READ | {"tools"}, everywhere=True),
    compacting=CompactionEndpoint(f"{PATH}/compact", _READ | {KEY}, read_compaction),
    hosts_tools=True,
)

"""The live output of a running tool."""

import asyncio
from collections import deque

from msgspec.structs import replace

from pinfold.agent.record import Record
from pinfold.agent.updates import ToolOutput
from pinfold.ports.tool import ToolOutcome

KEPT_PIECES = 200
"""Pieces of live output that an interrupted call keeps."""


class LiveOutput:
    """Passes output on at once, and keeps its end for an interrupted call."""

    def __init__(self, record: Record, call_id: str) -> None:
        self._record = record
        self._call_id = call_id
        self._loop = asyncio.get_running_loop()
        self._pieces: deque[str] = deque(maxlen=KEPT_PIECES)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def on_output(self, text: str) -> None:
        """Take a piece, from any thread."""
        self._loop.call_soon_threadsafe(self._hear, text)

    def _hear(self, text: str) -> None:
        self._pieces.append(text)
        self._record.tell(ToolOutput(self._call_id, text))


def headed(outcome: ToolOutcome, head: str) -> ToolOutcome:
    """The outcome with a line of the host's before its output."""
    spans = [[start + len(head), end + len(head)] for start, end in outcome.detail.get("host", ())]
    detail = {**outcome.detail, "host": [[0, len(head)], *spans]}
    return replace(outcome, output=head + outcome.output, detail=detail)

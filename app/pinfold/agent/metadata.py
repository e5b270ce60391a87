"""Turn metadata: what a request is for, told to the server in one header.

The fields are those of Codex's own header of that kind.
"""

import json
from typing import Literal

import msgspec

from pinfold.agent.record import Record
from pinfold.rollout.events import Compaction

HEADER = "x-pinfold-turn-metadata"

Kind = Literal["turn", "prewarm", "compaction", "memory"]


class Metadata:
    """Makes the header of each request; none where the user wants none."""

    def __init__(self, record: Record, *, wanted: bool) -> None:
        self._record = record
        self._wanted = wanted

    @property
    def window_id(self) -> str:
        """`<session>:<generation>`, of the window as it is."""
        return f"{self._record.state.id}:{self._record.window.generation}"

    def headers(self, kind: Kind, compaction: Compaction | None = None) -> dict[str, str]:
        """What to send along. Requests for memories say nothing of who asks."""
        if not self._wanted:
            return {}
        fields: dict[str, object] = {"request_kind": kind}
        if kind != "memory":
            state = self._record.state
            fields |= {
                "session_id": state.id,
                "thread_id": state.id,
                "turn_id": f"{state.id}:{state.turn}",
                "window_id": self.window_id,
            }
            if parent := self._record.journal.started.forked_from:
                fields["forked_from_thread_id"] = parent.rpartition(":")[0]
        if compaction is not None:
            fields["compaction"] = compaction
        # A header is ASCII, which a third party's name of a strategy need not be.
        return {HEADER: json.dumps(msgspec.to_builtins(fields), separators=(",", ":"))}

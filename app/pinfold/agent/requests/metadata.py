"""Turn metadata: a header that tells the server what a request is for, and its cache key.

The fields are those of Codex's own header of that kind.
"""

import json
from typing import Literal

import msgspec

from pinfold.agent.record import Record
from pinfold.rollout.values import Compaction

HEADER = "x-pinfold-turn-metadata"

Kind = Literal["turn", "prewarm", "compaction"]


def detached(kind: Literal["memory"], *, wanted: bool) -> dict[str, str]:
    """The header of a request outside any session: it names none."""
    return _header({"request_kind": kind}) if wanted else {}


class Metadata:
    """Makes the header of each request; none where the user wants none."""

    def __init__(self, record: Record, *, wanted: bool) -> None:
        self._record = record
        self._wanted = wanted

    @property
    def window_id(self) -> str:
        """`<session>:<generation>`, of the window as it is."""
        return f"{self._record.state.id}:{self._record.window.generation}"

    @property
    def cache_key(self) -> str:
        """The same for requests that begin alike: a fork shares its parent's."""
        started = self._record.journal.started
        return (started.forked_from or "").rpartition(":")[0] or self._record.state.id

    def headers(self, kind: Kind, compaction: Compaction | None = None) -> dict[str, str]:
        """The headers of a request."""
        if not self._wanted:
            return {}
        state = self._record.state
        fields: dict[str, object] = {
            "request_kind": kind,
            "session_id": state.id,
            "thread_id": state.id,
            "turn_id": f"{state.id}:{state.turn}",
            "window_id": self.window_id,
        }
        if parent := self._record.journal.started.forked_from:
            fields["forked_from_thread_id"] = parent.rpartition(":")[0]
        if compaction is not None:
            fields["compaction"] = compaction
        return _header(fields)


def _header(fields: dict[str, object]) -> dict[str, str]:
    # A header is ASCII, which a third party's name of a strategy need not be.
    return {HEADER: json.dumps(msgspec.to_builtins(fields), separators=(",", ":"))}

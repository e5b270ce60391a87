"""The files that a session knows, against the disk."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from pinfold.agent.record import Record
from pinfold.ports import ToolError, ToolOutcome
from pinfold.rollout.events import ArtifactObserved, Event
from pinfold.rollout.scan import scan
from pinfold.tools import restore, workspace
from pinfold.tools.restore import Undo

COMPARED = 2_000
"""Files that are compared with the disk: those last seen."""
NAMED = 5
"""Files that a sentence names."""


class Meanwhile(Struct, frozen=True):
    """What became of the session's files while it was closed."""

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    seen: tuple[ArtifactObserved, ...] = ()
    """The same as events."""

    def __str__(self) -> str:
        """`2 files changed since: a.py, b.py. Gone: c.py.`, or nothing."""
        told = []
        if count := len(self.changed):
            told.append(f"{count} file{'s' if count > 1 else ''} changed since: ")
            told.append(f"{_named(self.changed)}. ")
        if self.gone:
            told.append(f"Gone since: {_named(self.gone)}.")
        return "".join(told).rstrip()


def _named(uris: Sequence[str]) -> str:
    names = ", ".join(uris[:NAMED])
    return f"{names} and {len(uris) - NAMED} more" if len(uris) > NAMED else names


class Files:
    """`Session.files`."""

    def __init__(self, record: Record, cwd: Path) -> None:
        self._record = record
        self._cwd = cwd
        self.up_to_date = record.state.turn == 0
        """Whether the journal has what changed while the session was closed."""

    async def undo(self, undos: Sequence[Undo]) -> str:
        """Put files back as `restore.undo` does, and journal it; what was done, in a sentence.

        Raises `ToolError`, `JournalError`.
        """
        work = asyncio.create_task(self._undo(undos))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            # Half of it helps nobody, and what was written must be written down.
            with suppress(Exception):
                await work
            raise

    async def _undo(self, undos: Sequence[Undo]) -> str:
        folder = self._record.journal.folder
        outcome: ToolOutcome = await asyncio.to_thread(restore.undo, undos, self._cwd, folder)
        await self._record.append(
            *(
                ArtifactObserved(
                    uri=each.uri, kind=each.kind, op=each.op, hash=each.hash, backup=each.backup
                )
                for each in outcome.observations
            )
        )
        if not outcome.ok:
            raise ToolError(outcome.output)
        return outcome.output

    async def meanwhile(self) -> Meanwhile:
        """What changed since the session was left; nothing once it is `up_to_date`."""
        if self.up_to_date:
            return Meanwhile()
        with suppress(OSError):
            return await asyncio.to_thread(self._compare)
        return Meanwhile()

    def _compare(self) -> Meanwhile:
        last: dict[str, Event] = {}
        for event in scan(self._record.journal, ArtifactObserved):
            seen = event.data
            if isinstance(seen, ArtifactObserved) and seen.kind == "file" and seen.op != "list":
                last.pop(seen.uri, None)
                last[seen.uri] = event
        found = (self._look(last[uri]) for uri in list(last)[-COMPARED:])
        seen_now = tuple(each for each in found if each is not None)
        return Meanwhile(
            changed=tuple(each.uri for each in seen_now if each.op == "read"),
            gone=tuple(each.uri for each in seen_now if each.op == "delete"),
            seen=seen_now,
        )

    def _look(self, event: Event) -> ArtifactObserved | None:
        """What is there now, where it is not what was seen last."""
        seen = event.data
        assert isinstance(seen, ArtifactObserved)
        known = None if seen.op == "delete" else seen.hash
        if known is None and seen.op != "delete":
            return None  # never known, so nothing can be said of it
        path = self._cwd / seen.uri
        if not workspace.exists(path):
            gone = ArtifactObserved(uri=seen.uri, kind="file", op="delete")
            return None if known is None else gone
        try:
            if known is not None and workspace.touched(path) <= event.ts:
                return None
            workspace.require_file(path, self._cwd)
            now = workspace.hash_file(path)
        except (ToolError, OSError):
            return None
        if now == known:
            return None
        return ArtifactObserved(uri=seen.uri, kind="file", op="read", hash=now)

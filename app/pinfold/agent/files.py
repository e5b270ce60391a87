"""Compares the files that a session knows with the disk."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pinfold.agent.record import Record
from pinfold.agent.updates import Appended, Update
from pinfold.ports.provider import ModelInfo
from pinfold.ports.tool import ToolError, ToolOutcome
from pinfold.rollout.events import ArtifactObserved, Event
from pinfold.rollout.items import FOR_USER, Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.scan import scan
from pinfold.tools import restore, workspace
from pinfold.tools.restore import Undo
from pinfold.tools.workspace import Stamp

COMPARED = 5_000
"""Files that are compared with the disk: those last seen."""
NAMED = 5
"""Files that a sentence names."""


class Meanwhile(Struct, frozen=True):
    """Changes of the session's files that its tools did not make."""

    seen: tuple[ArtifactObserved, ...] = ()

    @property
    def changed(self) -> tuple[str, ...]:
        return tuple(event.uri for event in self.seen if event.op != "delete")

    @property
    def gone(self) -> tuple[str, ...]:
        return tuple(event.uri for event in self.seen if event.op == "delete")

    def __str__(self) -> str:
        """`2 files changed since: a.py, b.py. Gone since: c.py.`, or nothing."""
        told = []
        if count := len(self.changed):
            told.append(f"{count} file{'s' if count > 1 else ''} changed since: ")
            told.append(f"{named(self.changed)}. ")
        if self.gone:
            told.append(f"Gone since: {named(self.gone)}.")
        return "".join(told).rstrip()


def named(uris: Sequence[str]) -> str:
    """Some files for a sentence."""
    names = ", ".join(uris[:NAMED])
    return f"{names} and {len(uris) - NAMED} more" if len(uris) > NAMED else names


class _Known(Struct, frozen=True):
    """A file as the session last saw it."""

    hash: str | None
    """None where there was no file."""
    at: datetime
    stamp: Stamp | None = None
    """By which a later look can tell that it is still so."""


class Files:
    """`Session.files`."""

    def __init__(self, record: Record, cwd: Path, model: Callable[[], ModelInfo]) -> None:
        self._record = record
        self._cwd = cwd
        self._model = model
        self._lock = asyncio.Lock()
        self._unread = record.state.turn > 0
        """Whether the journal holds files from before this opening that are not in `_known`."""
        self._known: dict[str, _Known] = {}
        """The last seen last."""
        self._untold: dict[str, ArtifactObserved] = {}
        self.up_to_date = record.state.turn == 0
        """Whether the journal has what changed while the session was closed."""
        self.elsewhere = False
        """Whether the journal tells of files that are not here, as a recording that is played."""
        record.subscribe(self._hear)

    async def undo(self, undos: Sequence[Undo]) -> str:
        """Restore files as `restore.undo` does, and journal it; a sentence on what was done.

        Raises `ToolError`, `JournalError`.
        """
        work = asyncio.create_task(self._undo(undos))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            # Half of it helps nobody, and what was written must be journalled.
            with suppress(Exception):
                await work
            raise

    async def _undo(self, undos: Sequence[Undo]) -> str:
        folder = self._record.journal.folder
        async with self._lock:
            outcome: ToolOutcome = await asyncio.to_thread(restore.undo, undos, self._cwd, folder)
            await self._record.append(
                *(
                    ArtifactObserved(
                        uri=observation.uri,
                        kind=observation.kind,
                        op=observation.op,
                        hash=observation.hash,
                        backup=observation.backup,
                    )
                    for observation in outcome.observations
                )
            )
        if not outcome.ok:
            raise ToolError(outcome.output)
        return outcome.output

    async def meanwhile(self) -> Meanwhile:
        """What changed while the session was closed; nothing once it is `up_to_date`."""
        if self.up_to_date or self.elsewhere:
            return Meanwhile()
        return Meanwhile(await self._compare())

    async def notice(self) -> None:
        """Journal changes of files that no tool of ours made. Raises `JournalError`.

        No tool of ours may be at work: its changes are in the journal only once it is done.
        """
        if self._record.journal.read_only or self.elsewhere:
            return
        async with self._lock:
            seen = await self._compare()
            self.up_to_date = True
            if seen:
                await self._record.append(*seen)
                self._untold |= {event.uri: event for event in seen}

    async def news(self) -> Meanwhile:
        """What `notice` found since the last call. Raises `JournalError`."""
        await self.notice()
        seen, self._untold = tuple(self._untold.values()), {}
        return Meanwhile(seen)

    async def tell(self) -> None:
        """Before a request: tell the model what is new. Raises `JournalError`."""
        news = await self.news()
        if news.seen and self._model().tools:
            text = _change_note(news)
            detail = {FOR_USER: str(news)}
            await self._record.put(Item(n=0, kind="checkpoint", content=text, detail=detail))

    def _hear(self, update: Update) -> None:
        if isinstance(update, Appended):
            _take(self._known, update.event)

    async def _compare(self) -> tuple[ArtifactObserved, ...]:
        """The files that differ from what was last seen."""
        if self._unread:
            try:
                earlier = await asyncio.to_thread(_known_files, self._record.journal)
            except OSError:
                return ()
            for uri, known in self._known.items():
                earlier.pop(uri, None)
                earlier[uri] = known
            self._known, self._unread = earlier, False
        some = list(self._known.items())[-COMPARED:]
        looks = await asyncio.to_thread(_look_at, some, self._cwd)
        for (uri, known), look in zip(some, looks, strict=True):
            if isinstance(look, Stamp) and self._known.get(uri) is known:
                self._known[uri] = replace(known, stamp=look)
        return tuple(look for look in looks if isinstance(look, ArtifactObserved))


def _change_note(news: Meanwhile) -> str:
    changed = f"Changed since you last saw it: {named(news.changed)}. " if news.changed else ""
    gone = f"Gone: {named(news.gone)}. " if news.gone else ""
    return f"[{changed}{gone}Check it again before you rely on it.]"


def _known_files(journal: Journal) -> dict[str, _Known]:
    known: dict[str, _Known] = {}
    for event in scan(journal, ArtifactObserved):
        _take(known, event)
    return known


def _take(known: dict[str, _Known], event: Event) -> None:
    seen = event.data
    if isinstance(seen, ArtifactObserved) and seen.kind == "file" and seen.op != "list":
        known.pop(seen.uri, None)
        if seen.op == "delete":
            known[seen.uri] = _Known(None, event.ts)
        elif seen.hash is not None:  # else nothing can be said of it
            known[seen.uri] = _Known(seen.hash, event.ts)


def _look_at(
    some: Iterable[tuple[str, _Known]], cwd: Path
) -> list[ArtifactObserved | Stamp | None]:
    now = datetime.now(UTC)
    return [_look(cwd, uri, known, now) for uri, known in some]


def _look(cwd: Path, uri: str, known: _Known, now: datetime) -> ArtifactObserved | Stamp | None:
    """How a file changed; its stamp if it did not and the stamp can be relied on; else None."""
    stamp = None
    try:
        stamp = workspace.stamp(uri, cwd)
        if stamp is None:
            gone = ArtifactObserved(uri=uri, kind="file", op="delete")
            return None if known.hash is None else gone
        if known.hash and (stamp == known.stamp or stamp.before(known.at)):
            return stamp
        # One that has grown beyond a text is no longer what was read.
        found = None if stamp.size > workspace.MAX_TEXT else workspace.hash_file(cwd / uri)
    except (ToolError, OSError):
        found = None
    if found == known.hash:
        return stamp if stamp and stamp.before(now) else None
    return ArtifactObserved(uri=uri, kind="file", op="read", hash=found)

"""All memories, one per statement, with their sources and tokens."""

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from pinfold.memories.places import MEMORY, SUMMARY
from pinfold.memories.reader import MemoryReader
from pinfold.memories.reading import MAX_BYTES, MemoryLine, lines
from pinfold.memories.records import Output
from pinfold.memories.session_folders import SessionFolders
from pinfold.memories.statements import Citation
from pinfold.small_files import read_text

MemoryStatus = Literal["told", "kept", "waiting", "stale", "unconfirmed"]
"""`told`: new sessions begin with it; `kept`: it is in `MEMORY.md`; `waiting`: not consolidated
yet; `stale`: it may be out of date; `unconfirmed`: no record confirms it. No session is given the
last two."""
RECORD = "record"
"""Instead of a file name, for a memory that is only in a session's record."""


class ListedMemory(Struct, frozen=True):
    """A memory as lists show it."""

    key: str
    """The hash of its line; its beginning is enough on the command line."""
    kind: str
    """The kind of statement; `note` for the user's own words."""
    text: str
    line: str
    """The line in its file."""
    folder: str
    cites: tuple[Citation, ...]
    """With whole session ids if the sessions are known."""
    file: str
    number: int
    state: MemoryStatus
    why: str = ""
    """Why it is stale."""
    at: float | None = None
    """When the cited sessions last changed; seconds of the epoch."""
    uses: int = 0
    last_use: float | None = None
    tokens: int = 0
    owner: str = ""
    """The role that shared it with a team; empty for the user's own memories."""
    team: str = ""
    """The team that it is shared with."""

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cite.session for cite in self.cites))


def listing(reader: MemoryReader, count: Callable[[str], int]) -> list[ListedMemory]:
    """All memories: first those given to sessions, then those of `MEMORY.md`, then those in records
    only. Blocking. Raises `StateError`, `OSError`."""
    outputs = {output.session_id: output for output in reader.state.outputs()}
    sources = reader.sources()
    sessions = SessionFolders(reader.home, list(outputs.values()))
    found: dict[tuple[str, str], ListedMemory] = {}
    for file, line in _lines(reader, outputs):
        kind = line.statement.kind if line.statement else "note"
        if (kind, line.says) in found:
            continue
        cites = tuple(
            dict.fromkeys(
                Citation(sessions.whole(cite.session) or cite.session, cite.item)
                for cite in line.cites
            )
        )
        rows = [outputs[cite.session] for cite in cites if cite.session in outputs]
        why = sources.stale(line)
        state: MemoryStatus = "told" if file == SUMMARY else "kept" if file == MEMORY else "waiting"
        found[kind, line.says] = ListedMemory(
            key=line.hash,
            kind=kind,
            text=line.says,
            line=line.text.strip(),
            folder=line.folder or (rows[0].cwd if rows else ""),
            cites=cites,
            file=file,
            number=line.number,
            state="unconfirmed" if line.unconfirmed else "stale" if why else state,
            why="no record confirms it" if line.unconfirmed else why,
            at=max((row.source_updated_at for row in rows), default=None),
            uses=sum(row.usage_count for row in rows),
            last_use=max((row.last_usage for row in rows if row.last_usage), default=None),
            tokens=count(line.says),
        )
    return list(found.values())


def _lines(reader: MemoryReader, outputs: dict[str, Output]) -> Iterator[tuple[str, MemoryLine]]:
    for name in (SUMMARY, MEMORY):
        try:
            text = read_text(reader.folder / name, MAX_BYTES)
        except FileNotFoundError:
            continue
        yield from ((name, line) for line in lines(text))
    for output in outputs.values():
        for line in lines(output.raw_memory):
            yield RECORD, line

"""All memories that there are, one a statement, with where they come from and what they cost."""

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
"""New sessions begin with it; it is in `MEMORY.md`; no consolidation has read it yet; it may no
longer hold; no record confirms it. No session is told of the last two."""
RECORD = "record"
"""In place of a file's name: a memory of a session's record that is in no file yet."""


class ListedMemory(Struct, frozen=True):
    """A statement that pinfold remembers."""

    key: str
    """The hash of its line; the beginning names it on the command line."""
    kind: str
    """Of the statement; `note` for words of the user's own."""
    text: str
    line: str
    """As it is in its file."""
    folder: str
    cites: tuple[Citation, ...]
    """With whole ids, where the sessions are known."""
    file: str
    number: int
    state: MemoryStatus
    why: str = ""
    """Why it is stale."""
    at: float | None = None
    """When what it cites last changed; seconds of the epoch."""
    uses: int = 0
    last_use: float | None = None
    tokens: int = 0
    owner: str = ""
    """The role that shared it with a team; empty for what this user remembers here."""
    team: str = ""
    """The team that it is shared with."""

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cite.session for cite in self.cites))


def listing(reader: MemoryReader, count: Callable[[str], int]) -> list[ListedMemory]:
    """All memories: those that sessions are told first, then those of `MEMORY.md`, then those that
    wait in records. Blocking. Raises `StateError`, `OSError`."""
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

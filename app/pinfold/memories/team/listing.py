"""Shared lines, as `/memories` lists them."""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from pinfold.memories.listing import ListedMemory, MemoryStatus
from pinfold.memories.places import MEMORY, SUMMARY
from pinfold.memories.statements import cited
from pinfold.memories.team.copy import Copy, TeamCopy, written
from pinfold.memories.team.values import TeamLine


def with_teams(
    private: Iterable[ListedMemory], copies: Iterable[TeamCopy], count: Callable[[str], int]
) -> list[ListedMemory]:
    """The private memories, with shared ones marked, and the lines of others."""
    found = list(private)
    for copy in copies:
        shared, have = copy.shared(), copy.read()
        there = {line for line, key in shared.items() if key not in have.gone}
        sessions = {cite.session for line in there for cite in cited(line)}
        # A line that a consolidation reworded counts as shared if its session is.
        found = [
            replace(memory, team=copy.team.name)
            if memory.line in there or (memory.line not in shared and sessions & {*memory.sessions})
            else memory
            for memory in found
        ]
        found += _lines_of_others(copy, have, set(shared.values()), count)
    return found


def _kind_and_text(line: TeamLine) -> tuple[str, str]:
    statement = line.statement
    return (statement.kind, statement.text.casefold()) if statement else ("", "")


def _lines_of_others(
    copy: TeamCopy, have: Copy, ours: set[str], count: Callable[[str], int]
) -> Iterator[ListedMemory]:
    states: dict[str, MemoryStatus] = {}
    for place in have.placed:
        if place.file == SUMMARY or place.line not in states:
            states[place.line] = "told" if place.file == SUMMARY else "kept"
    lines = have.by_id
    same = {(lines[key].folder, *_kind_and_text(lines[key])) for key in states}
    for line in lines.values():
        statement = line.statement
        if statement is None or line.id in ours:
            continue
        if line.id not in states and (line.folder, *_kind_and_text(line)) in same:
            continue  # another has said it in the same words
        state = states.get(line.id, "waiting")
        yield ListedMemory(
            key=line.id,
            kind=statement.kind,
            text=statement.text,
            line=written(line),
            folder=str(copy.team.here(line.folder)),
            cites=statement.cites,
            file=f"team/{copy.team.name}/{SUMMARY if state == 'told' else MEMORY}",
            number=0,
            state="stale" if line.stale else state,
            why=line.stale,
            at=line.since,
            tokens=count(statement.text),
            owner=line.owner,
            team=copy.team.name,
        )

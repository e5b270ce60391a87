"""The lines of a session that may be shared with a team."""

import hashlib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from pinfold.memories.reading import MAX_BYTES
from pinfold.memories.records import Output
from pinfold.memories.source import SessionText
from pinfold.memories.statements import MemoryStatement, statements
from pinfold.memories.team.copy import TEAMS
from pinfold.memories.team.leaving import LeavingFilter, paths_in
from pinfold.memories.team.proving import MOST_TEXT, doubt, excerpt
from pinfold.memories.team.sharing import Team
from pinfold.memories.team.values import TeamLine, TeamQuote, digest, line_id
from pinfold.rollout.acts import act
from pinfold.rollout.events import MemoryUsed
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.mentions import texts_of
from pinfold.small_files import read

_FORM = "1"
"""Version of the published form; raising it publishes everything again."""


class Published(Struct, frozen=True):
    """A line, and the private line that it was made from."""

    line: TeamLine
    private: str


def input_of(team: Team, output: Output) -> str:
    """A hash of what a publication depends on."""
    return digest(_FORM, team.name, str(team.root), output.cwd, output.raw_memory)


def echoed(folder: Path) -> frozenset[int]:
    """The replies that used a team's lines: what they say belongs to the owners of those.

    Blocking. Raises `JournalError`, `OSError`.
    """
    with Journal.open(folder, lambda: datetime.now(UTC), read_only=True) as journal:
        used = [event.data for event in journal.read() if isinstance(event.data, MemoryUsed)]
    return frozenset(
        data.item
        for data in used
        if any(place.path.startswith(f"{TEAMS}/") for place in data.cited)
    )


def published(
    team: Team,
    owner: str,
    output: Output,
    source: SessionText | None,
    echoes: Collection[int] = (),
) -> tuple[list[Published], int]:
    """The lines of a session that may leave, and how many may not. Blocking.

    Without `source`, if the session is gone, a line has only the quote in its record. A line that
    cites one of the `echoes` may not leave.
    """
    cwd = Path(output.cwd)
    folder = team.relative(cwd)
    if folder is None:
        return [], 0
    leaving = LeavingFilter(team, cwd)
    found: list[Published] = []
    every = statements(output.raw_memory)
    for statement in every:
        if any(cite.item in echoes for cite in statement.cites):
            continue
        line = _line(team, owner, output.session_id, folder, statement, leaving, source)
        if line is not None:
            found.append(Published(line, str(statement)))
    return found, len(every) - len(found)


def _line(
    team: Team,
    owner: str,
    session: str,
    folder: str,
    statement: MemoryStatement,
    leaving: LeavingFilter,
    source: SessionText | None,
) -> TeamLine | None:
    if any(cite.session != session for cite in statement.cites):
        return None
    file = leaving.file(statement.file) if statement.file else ""
    if file is None:
        return None
    said = MemoryStatement(
        statement.kind,
        leaving.text(statement.text),
        statement.cites,
        leaving.text(statement.quote),
        file,
    )
    if len(said.text) > MOST_TEXT or str(said) != str(_reread(said)):
        return None
    quotes: list[TeamQuote] = []
    for cite in said.cites:
        items = _cited(source, cite.item) if source else []
        if any(map(leaving.outside, _touched(items))):
            return None
        texts = [leaving.text(text) for item in items for text in texts_of(item)]
        texts += [said.quote] if said.quote else []
        at_root = team.root / file if file else None
        quotes.append(TeamQuote(str(cite), excerpt(said.text, texts), file, hash_of(at_root)))
    if doubt(said, quotes):
        return None
    text = str(said)
    return TeamLine(line_id(team.name, owner, session, text), session, folder, text, tuple(quotes))


def _reread(said: MemoryStatement) -> MemoryStatement | None:
    found = statements(str(said))
    return found[0] if len(found) == 1 else None


def _cited(source: SessionText, n: int) -> list[Item]:
    """An item; of a tool call, both halves."""
    item = next((item for item in source.items if item.n == n), None)
    if item is None:
        return []
    if not item.call_id:
        return [item]
    return [
        other
        for other in source.items
        if (other.response, other.call_id) == (item.response, item.call_id)
    ]


def _touched(items: Sequence[Item]) -> list[str]:
    """The paths that a call names or touched."""
    calls = [item for item in items if item.kind == "tool_call"]
    results = [item for item in items if item.kind == "tool_result"]
    found: list[str] = []
    for result in results:
        done = act(calls[0] if calls else None, result)
        found += [*done.paths, *done.names] if done else []
    texts = [text for call in calls for text in texts_of(call)]
    texts += [str(item.detail.get("command", "")) for item in items]
    return found + [path for text in texts for path in paths_in(text)]


def hash_of(path: Path | None) -> str:
    """SHA-256 of a file; empty if it can't be read."""
    try:
        return hashlib.sha256(read(path, MAX_BYTES)).hexdigest() if path else ""
    except (OSError, ValueError):
        return ""

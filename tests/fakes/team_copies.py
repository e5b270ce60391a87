"""A machine's copy of a team's lines, as if it had been pulled. No database."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pinfold.memories.statements import MemoryStatement, StatementKind, cited
from pinfold.memories.team.copy import Copy
from pinfold.memories.team.sharing import Team
from pinfold.memories.team.teams import Teams
from pinfold.memories.team.values import Picked, TeamLine, TeamQuote, line_id

BEN = "0198be00-1234-7000-8000-00000000000b"
NOBODY = "postgresql+psycopg://ada@127.0.0.1:1/team"
"""Where no server listens."""


def shared(
    text: str,
    *,
    kind: StatementKind = "fact",
    owner: str = "ben",
    session: str = BEN,
    item: int = 1,
    line: str = "",
    **more: Any,
) -> TeamLine:
    """A line with a quote that says the same; `line` is what it says in place of a statement."""
    cite = f"{session}#{item}"
    said = line or str(MemoryStatement(kind, text, tuple(cited(cite))))
    quotes = (TeamQuote(cite, text),)
    made = TeamLine(
        line_id("payments", owner, session, said), session, "", said, quotes, owner=owner
    )
    return replace(made, **{"since": 1_772_000_000.0, **more})


def pulled(home: Path, folder: Path, *lines: TeamLine, owns: bool = False) -> Teams:
    """The teams of Ada, who has pulled these lines: all are in the summary."""
    teams = Teams(home, (Team("payments", folder, folder),), NOBODY)
    (copy,) = teams.copies
    places = tuple(
        Picked(file, line.id) for file in ("MEMORY.md", "memory_summary.md") for line in lines
    )
    with copy.locked():
        copy.write(
            Copy(
                role="ada",
                owns=owns,
                revision=1,
                pulled_at=1_772_000_000.0,
                lines=lines,
                placed=places,
            )
        )
    return teams

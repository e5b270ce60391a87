"""The lines of a team that a new session is told. Of the copy alone: no database is asked."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from pinfold.memories import reading
from pinfold.memories.places import SUMMARY
from pinfold.memories.reading import MemoryLine
from pinfold.memories.team.copy import TEAMS, TeamCopy, owner_of, written
from pinfold.memories.team.values import TeamLine
from pinfold.numbers import ID_SHOWN
from pinfold.sanitize import one_line
from pinfold.small_files import read_text


def told(copy: TeamCopy, cwd: Path, most: int, count: Callable[[str], int]) -> str:
    """What a session in `cwd` is told of a team's lines, with at most so many tokens of them;
    empty where there is nothing. Raises `OSError`.

    What this machine has shared is left out: the private memories have it.
    """
    try:
        every = reading.lines(read_text(copy.files / SUMMARY, reading.MAX_BYTES))
    except FileNotFoundError:
        return ""
    ours = set(copy.shared().values())
    known = {
        written(line): line
        for line in copy.read().by_id.values()
        if not line.stale and line.id not in ours
    }
    fresh = [line for line in every if line.text in known]
    chosen = reading.told(fresh, cwd, most, count)
    if not chosen:
        return ""
    groups: dict[str, list[str]] = {}
    for line in chosen:
        groups.setdefault(line.folder, []).append(_shown(line, known[line.text]))
    text = "\n\n".join(
        "\n".join([f"In {one_line(folder)}:", *group]) for folder, group in groups.items()
    )
    note = (files("pinfold.memories") / "prompts" / "team.md").read_text(encoding="utf-8")
    file = f"{TEAMS}/{copy.team.name}/{SUMMARY}"
    return (
        note.strip()
        .replace("{team}", copy.team.name)
        .replace("{file}", file)
        .replace("{lines}", text)
    )


def _shown(line: MemoryLine, shared: TeamLine) -> str:
    """A line as the model reads it: `12 ben, fact: The limit is 40. [0198ab12-1234#7]`."""
    statement = shared.statement
    assert statement is not None
    cites = ", ".join(f"{cite.session[:ID_SHOWN]}#{cite.item}" for cite in statement.cites)
    said = one_line(statement.text)
    return f"{line.number} {owner_of(shared)}, {statement.kind}: {said} [{cites}]"

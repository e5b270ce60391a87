"""Texts for the user about shared lines."""

from pinfold.memories.listing import ListedMemory
from pinfold.memories.statements import Citation
from pinfold.memories.team.teams import LATER, Teams
from pinfold.memories.team.values import TeamLine
from pinfold.sanitize import one_line


def is_others(teams: Teams | None, memory: ListedMemory) -> bool:
    """Whether someone else shared the memory."""
    copies = teams.copies if teams else []
    return bool(memory.owner) and not any(
        copy.team.name == memory.team and copy.read().role == memory.owner for copy in copies
    )


def forgetting(teams: Teams | None, memory: ListedMemory, others: int) -> str:
    """The question before a memory is forgotten. `others` more come from the same sessions."""
    said = one_line(memory.text)
    if teams and is_others(teams, memory):
        owner = one_line(memory.owner)
        if teams.owns(memory.team):
            return f"Forget {owner}’s line “{said}” for everybody in {memory.team}? {LATER}"
        return f"Forget {owner}’s line “{said}” for yourself? Others keep it."
    count = len(memory.sessions)
    which = "the session" if count == 1 else f"the {count} sessions"
    more = f", {others + 1} memories in all," if others else ""
    question = (
        f"Forget what is known from {which} of “{said}”{more} for good? "
        "They are removed from every file and copy, and no memories are made from such a "
        "session again. The session itself stays."
    )
    shared = teams.shares(memory.sessions) if teams else []
    return " ".join([question, *([shared_too(shared)] if shared else [])])


def shared_too(names: list[str]) -> str:
    """What forgetting does to lines that are shared with these teams."""
    return f"What {' and '.join(names)} has of it goes too, for everybody. {LATER}"


def quoted(teams: Teams | None, cite: Citation) -> tuple[str, TeamLine, str] | None:
    """The quote of an item in a line of someone else: the team, the line, the quote."""
    for copy in teams.copies if teams else ():
        ours = set(copy.shared().values())
        for line in copy.read().by_id.values():
            for quote in line.quotes:
                if quote.cite == str(cite) and line.id not in ours:
                    return copy.team.name, line, quote.text
    return None

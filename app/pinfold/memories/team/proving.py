"""Checks a shared line against its quotes, before it leaves and after it is pulled."""

import re
from collections.abc import Iterable, Sequence

from pinfold.digests.words import words
from pinfold.memories.statements import MemoryStatement
from pinfold.memories.team.values import TeamQuote
from pinfold.rollout import mentions

SHARED = 0.5
"""Share of a line's words that must be in its quotes."""
MOST_TEXT, MOST_QUOTE = 600, 1_200
"""Characters."""
_PART = 300
_PARTS = re.compile(r"(?<=[.!?])\s+|\n")


def doubt(statement: MemoryStatement, quotes: Sequence[TeamQuote]) -> str:
    """Why the quotes do not support a line; empty if they do."""
    texts = [statement.quote, *(quote.text for quote in quotes)]
    texts += [file for file in (statement.file, *(quote.file for quote in quotes)) if file]
    if missing := mentions.ItemTexts((), texts).missing(statement.text):
        return f"no quote says {', '.join(missing[:3])}"
    own = set(words(statement.text))
    if len(own & set(words("\n".join(texts)))) < len(own) * SHARED:
        return "its wording differs from its quotes"
    return ""


def excerpt(said: str, texts: Iterable[str]) -> str:
    """The parts of texts that support a line, one per line, at most `MOST_QUOTE` characters."""
    parts = [
        " ".join(part.split())[:_PART]
        for text in texts
        for part in _PARTS.split(text)
        if part and not part.isspace()
    ]
    wanted = set(words(said)) | {name.casefold() for name in mentions.names(said)}
    wanted |= set(mentions.numbers(said))
    holds = [{w for w in wanted if w in part.casefold()} for part in parts]
    chosen: set[int] = set()
    room = MOST_QUOTE
    while wanted:
        left = (at for at in range(len(parts)) if at not in chosen and len(parts[at]) < room)
        best = max(left, key=lambda at: len(holds[at] & wanted), default=None)
        if best is None or not holds[best] & wanted:
            break
        chosen.add(best)
        room -= len(parts[best]) + 1
        wanted -= holds[best]
    return "\n".join(parts[at] for at in sorted(chosen))

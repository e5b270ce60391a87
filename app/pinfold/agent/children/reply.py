"""An agent's last reply, as its parent reads it."""

from collections.abc import Callable
from dataclasses import dataclass

LAST_REPLY = 1_500
"""Tokens of an agent's last reply that its parent's window takes."""
NOTHING = "(No reply.)"
"""Shown for an empty reply."""
CUT = "\n[... {:,} characters left out; {} ...]\n"


@dataclass(frozen=True, slots=True)
class ChildReply:
    text: str
    head: int
    """Characters at its start that are the host's."""
    whole: str = ""
    """All of it, where that is too long."""


def shortened(head: str, answer: str, most: int, count: Callable[[str], int]) -> ChildReply:
    """The head and the answer, of that at most so many tokens: its first and its last part."""
    answer = answer.strip() or NOTHING
    first = f"{head}\n"
    if len(answer) <= most or count(answer) <= most:
        return ChildReply(first + answer, len(first))
    size = min(len(answer), most * 8)
    while True:
        size = size * 9 // 10
        half = size // 2
        left = len(answer) - 2 * half
        cut = CUT.format(left, "the whole reply is kept")
        short = answer[:half].rstrip() + cut + answer[len(answer) - half :].lstrip()
        if count(short) <= most or size < most:
            return ChildReply(first + short, len(first), first + answer)

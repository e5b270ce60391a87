"""What room under the target goes to, once everything has its share."""

from collections.abc import Sequence

from pinfold.compaction.atoms import Atom, atoms
from pinfold.compaction.holding import Holding
from pinfold.compaction.view import Entry, WindowView

LEAST = 16
"""Tokens, below which no message is looked for."""
_OF_AGENT = 8
"""The agent's messages at most: a window that grew with each compaction would end crowded."""
_CALLS = frozenset({"tool_call", "tool_result"})


def fill(holding: Holding, limit: int, of_users: int) -> list[Atom]:
    """Keep older messages, the agent's and the user's, newest first, while all takes `limit`.

    The user's take at most `of_users` tokens. Those kept, oldest first.
    """
    found: list[Atom] = []
    of_agent, most = 0, min(_OF_AGENT, holding.options.max_tail_messages)
    for entry in _messages(holding.view):
        left = limit - holding.size
        if left < LEAST:
            break
        by_user = entry.item.kind == "user"
        of_agent += not by_user
        wanted = entry.full <= of_users if by_user else of_agent <= most
        if not wanted or entry.full > left or not holding.free(entry):
            continue
        holding.keep_message(entry, "a message, as there is room")
        found.append((entry,))
        of_users -= holding.cost[entry.n] if by_user else 0
    return found[::-1]


def _messages(view: WindowView) -> Sequence[Entry]:
    """The user's, and what the agent said when it was done: no words between calls, and no next
    step that is behind us. What names the next step comes first."""

    def make() -> Sequence[Entry]:
        found = [
            entry
            for atom in reversed(atoms(view))
            if not any(each.item.kind in _CALLS for each in atom)
            for entry in reversed(atom)
            if entry.item.kind in ("user", "assistant") and entry.sent and entry.form == "full"
        ]
        ends = {each.item for each in view.ledger.open_ends() if each.kind == "next"}
        behind = view.ledger.outdated()
        wanted = [entry for entry in found if entry.n not in behind]
        return sorted(wanted, key=lambda entry: entry.n not in ends)

    return view.once("messages", make)

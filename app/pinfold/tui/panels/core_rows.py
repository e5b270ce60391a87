"""The lines of the core's panel."""

from collections.abc import Mapping
from typing import Literal

from pinfold.checkpoint.core import Suggestion
from pinfold.rollout.items import Item
from pinfold.rollout.values import CoreStatement
from pinfold.sanitize import one_line
from pinfold.tui.panels.checkpoint_rows import KeptRow
from pinfold.tui.panels.table import Heading

Writing = Literal["add", "edit", "goal"]

GOAL = "goal"
"""The key of its line."""
PLACEHOLDERS: dict[Writing, str] = {
    "add": "a rule: what to do always, or never",
    "edit": "in other words",
    "goal": "what the session is for",
}
"""Placeholders of the input."""


def key_of(said: Suggestion | CoreStatement) -> str:
    mark = "?" if isinstance(said, Suggestion) else ""
    return f"{mark}{said.item}/{said.text}"


def rows_of(
    goal: str,
    first: Item | None,
    said: Mapping[str, CoreStatement],
    suggested: Mapping[str, Suggestion],
    keys: Mapping[str, str],
) -> list[KeptRow | Heading]:
    """Goal, what the user put there, what they may confirm; `first` is the request that is the
    goal, if one is, and `keys` has the key of each action."""
    none = "Your first request will be the goal."
    note = "your first request" if first else ""
    stated = str(len(said)) if said else f"none yet; {keys.get('core.add', '')} adds one"
    confirms = f"{keys.get('core.confirm', '')} confirms"
    return [
        Heading("Goal"),
        KeptRow(GOAL, one_line(goal) or none, "", note, first.n if first else None),
        Heading("In your words", stated),
        *(
            KeptRow(key, one_line(statement.text), item=statement.item or None)
            for key, statement in said.items()
        ),
        Heading("Not confirmed", confirms if suggested else "none"),
        *(
            KeptRow(key, one_line(suggestion.text), "?", _note(suggestion), suggestion.item or None)
            for key, suggestion in suggested.items()
        ),
    ]


def _note(suggested: Suggestion) -> str:
    if suggested.adopted:
        return "from the adopted session"
    return "first request" if suggested.first else ""


def about(row: KeptRow) -> list[str]:
    """What the foot says of a row."""
    own = "" if row.key == GOAL or row.note else "written here"
    known = f"from #{row.item}" if row.item else own
    return [part for part in (row.note, known) if part]

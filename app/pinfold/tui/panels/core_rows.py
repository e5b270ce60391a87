"""The lines of the core's panel."""

from collections.abc import Mapping
from typing import Literal

from pinfold.checkpoint.commitments import Commitment
from pinfold.rollout.events import Stated
from pinfold.rollout.items import Item
from pinfold.sanitize import one_line
from pinfold.tui.panels.checkpoint_rows import KeptRow

Writing = Literal["add", "edit", "goal"]

GOAL = "goal"
"""The key of its line."""
PLACEHOLDERS: dict[Writing, str] = {
    "add": "what always, or never, holds",
    "edit": "in other words",
    "goal": "what the session is for",
}
"""What is written, by what one writes."""


def key_of(said: Commitment | Stated) -> str:
    return f"{said.item}/{said.text}"


def rows_of(goal: str, first: Item | None, said: Mapping[str, Commitment]) -> list[KeptRow]:
    """Goal and commitments, under headings; `first` is the request that is the goal, if one is."""
    none = "Your first request will be it."
    note = "your first request" if first else ""
    laid_down = str(len(said)) if said else "nothing yet; a adds something"
    return [
        KeptRow("goals", "Goal", heading=True),
        KeptRow(GOAL, one_line(goal) or none, "", note, first.n if first else None),
        KeptRow("said", "In your words", note=laid_down, heading=True),
        *(
            KeptRow(key, one_line(each.text), "", each.kind, each.item or None)
            for key, each in said.items()
        ),
    ]


def about(row: KeptRow) -> list[str]:
    """What is said of a line at the foot."""
    known = f"from #{row.item}" if row.item else "" if row.key == GOAL else "written here"
    return [each for each in (row.note, known) if each]

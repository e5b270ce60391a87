"""What `checkpoint` inserts: how to read it, the checkpoint, the ledger, the protected core."""

from collections.abc import Callable, Iterator

from pinfold.checkpoint.caps import VIEW_CAPS, ViewCaps
from pinfold.checkpoint.model import CheckpointV1
from pinfold.checkpoint.view import HOW_TO, view_v1
from pinfold.compaction.budget import CHECKPOINT, CORE, LEDGER, share
from pinfold.compaction.content import ends_of
from pinfold.compaction.view import WindowView

CORE_HEADER = "[IN THE USER'S WORDS]"
HOW_TO_SHARE = 0.6
"""Of the checkpoint's tokens that the note on how to read it may take."""
GOAL_SHARE = 0.5
"""Of the core's tokens that the goal may take."""
_SCALES = (1.0, 0.5, 0.25, 0.1, 0.0)
"""Of the view's caps, tried from left to right."""
_MIN_CHARS = 40


def checkpoint_text(view: WindowView, target: int) -> str:
    """All of it, for a window of `target` tokens; empty where nothing fits."""
    known = _checkpoint(view.checkpoint, share(CHECKPOINT, target), view.count)
    ledger = view.ledger_text(share(LEDGER, target))
    core = core_text(view, share(CORE, target))
    return "\n\n".join(part.strip() for part in (known, ledger, core) if part)


def core_text(view: WindowView, budget: int) -> str:
    """The goal and what the user laid down, verbatim, the newest within `budget` tokens."""
    left = budget - view.count(CORE_HEADER)
    goal = ""
    if view.goal:
        goal = _goal(view, min(left, int(GOAL_SHARE * budget)))
        left -= view.count(goal) + 1
    lines: list[str] = []
    for each in reversed(view.ledger.commitments()):
        cost = view.count(each.line) + 1
        if cost <= left:
            left -= cost
            lines.append(each.line)
    body = [goal] if goal else []
    body += reversed(lines)
    return "\n".join([CORE_HEADER, *body]) if body and left >= 0 else ""


def _goal(view: WindowView, budget: int) -> str:
    goal = _bullet(f"goal: {view.goal}")
    if view.count(goal) <= budget:
        return goal
    first = next((each.item.n for each in view.entries if each.item.kind == "user"), 1)
    cut = ends_of(goal, first, budget, view.count)
    return cut if view.count(cut) <= budget else ""


def _bullet(text: str) -> str:
    """A text of several lines that can't be taken for any other part."""
    return "- " + "\n  ".join(line.rstrip() for line in text.strip().splitlines())


def _checkpoint(checkpoint: CheckpointV1, budget: int, count: Callable[[str], int]) -> str:
    how_to = HOW_TO if count(HOW_TO) <= HOW_TO_SHARE * budget else ""
    left = budget - count(how_to)
    for caps in _caps():
        text = view_v1(checkpoint, caps)
        if count(text) <= left:
            return f"{how_to}\n{text}" if how_to else text
    return ""


def _caps() -> Iterator[ViewCaps]:
    most = VIEW_CAPS
    for scale in _SCALES:
        yield ViewCaps(
            max_open_plan_steps=int(most.max_open_plan_steps * scale),
            max_done_plan_steps=int(most.max_done_plan_steps * scale),
            max_decisions=int(most.max_decisions * scale),
            max_facts_valid=int(most.max_facts_valid * scale),
            max_facts_suspect=int(most.max_facts_suspect * scale),
            max_recent_artifacts=int(most.max_recent_artifacts * scale),
            max_value_chars=max(_MIN_CHARS, int(most.max_value_chars * scale)),
        )

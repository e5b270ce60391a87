"""What `checkpoint` inserts: how to read it, the checkpoint, the ledger, what is left open, the
protected core."""

from collections.abc import Callable, Iterator, Sequence

from pinfold.checkpoint.caps import VIEW_CAPS, ViewCaps
from pinfold.checkpoint.commitments_cues import Kind
from pinfold.checkpoint.commitments_prose import sentences
from pinfold.checkpoint.model import CheckpointV1
from pinfold.checkpoint.view import HOW_TO, view_v1
from pinfold.compaction.budget import (
    CORE,
    LEDGER,
    checkpoint_share,
    core_share,
    ledger_least,
    share,
)
from pinfold.compaction.view import WindowView
from pinfold.rollout.provenance import words

CORE_HEADER = "[IN THE USER'S WORDS]"
OPEN_HEADER = "[STILL OPEN]"
READINGS_HEADER = "[VALUES IN OUTPUT]"
OPEN_SHARE = 0.3
"""Of the core's tokens, that what is left open and values in output may take."""
HOW_TO_SHARE = 0.6
"""Of the checkpoint's tokens that the note on how to read it may take."""
GOAL_SHARE = 0.5
"""Of the core's tokens that the goal may take."""
BINDING_SHARE = 0.7
"""Of the core's tokens without the goal, that what binds has before all else."""
_BINDING: frozenset[Kind] = frozenset({"constraint", "rule"})
_SCALES = (1.0, 0.5, 0.25, 0.1, 0.0)
"""Of the view's caps, tried from left to right."""
_MIN_CHARS = 40


def checkpoint_text(view: WindowView, target: int, more: int = 0) -> str:
    """All of it, for a window of `target` tokens; empty where nothing fits.

    The protected core takes up to `more` tokens beyond its share.
    """
    known = _checkpoint(view.checkpoint, checkpoint_share(target), view.count)
    core = core_text(view, core_share(target))
    of_ledger = share(LEDGER, target)
    readings = _section(view, READINGS_HEADER, view.ledger.readings(), of_ledger // 3)
    beyond = max(0, view.count(core) - share(CORE, target))  # the ledger's names give way
    left = of_ledger - view.count(readings) - beyond
    ledger = view.ledger_text(max(left, ledger_least(target, view.ledger.known_files())))
    if more:
        core = core_text(view, core_share(target) + more)
    return "\n\n".join(part.strip() for part in (known, ledger, readings, core) if part)


def core_text(view: WindowView, budget: int) -> str:
    """What is left open, then the goal and what the user laid down, verbatim, the newest within
    `budget` tokens."""
    ends = [each.line for each in view.ledger.open_ends()]
    opened = _section(view, OPEN_HEADER, ends, int(OPEN_SHARE * budget))
    laid_down = _laid_down(view, budget - view.count(opened))
    return "\n\n".join(part for part in (opened, laid_down) if part)


def _section(view: WindowView, header: str, told: Sequence[str], budget: int) -> str:
    """The last of the lines that fit into `budget` tokens."""
    lines = _last_fitting(view, told, budget - view.count(header))
    return "\n".join([header, *lines]) if lines else ""


def _last_fitting(view: WindowView, told: Sequence[str], left: int) -> list[str]:
    lines: list[str] = []
    for line in reversed(told):
        cost = view.count(line) + 1
        if cost <= left:
            left -= cost
            lines.append(line)
    return lines[::-1]


def _laid_down(view: WindowView, budget: int) -> str:
    left = budget - view.count(CORE_HEADER)
    goal = ""
    if view.goal or view.ledger.new_goal()[0]:
        goal = _goal(view, min(left, int(GOAL_SHARE * budget)))
        left -= view.count(goal) + 1
    lines = _lines(view, _spaced(goal), left)
    body = [goal, *lines] if goal else lines
    return "\n".join([CORE_HEADER, *body]) if body and left >= 0 else ""


def _lines(view: WindowView, goal: str, left: int) -> list[str]:
    """Where not all fit, what the goal says already gives way; what binds comes first, then what
    the user agreed to: no idle word reads as that."""
    every = view.ledger.commitments()
    lines = {each.line: None for each in every}
    if sum(view.count(line) + 1 for line in lines) <= left:
        return list(lines)
    more = [each for each in every if _spaced(each.text) not in goal]
    binding = [each.line for each in more if each.kind in _BINDING]
    kept = _last_fitting(view, binding, int(BINDING_SHARE * left))
    agreed = [each.line for each in more if each.proposed]
    for wanted in (agreed, [each.line for each in more]):
        free = left - sum(view.count(line) + 1 for line in kept)
        kept += _last_fitting(view, [line for line in wanted if line not in kept], free)
    return [line for line in lines if line in kept]


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _goal(view: WindowView, budget: int) -> str:
    text, n = view.ledger.new_goal()
    head = f"goal #{n}, in the place of the first" if text else "goal"
    if not text:
        text = view.goal
        n = next((each.n for each in view.of_kind("user") if words(each.item)), 1)
    goal = _bullet(f"{head}: {text}")
    if view.count(goal) <= budget:
        return goal
    cut = ""
    for more in _beginnings(text):
        longer = _bullet(f"{head}: {more} [… recall({n}) brings all of #{n}]")
        if view.count(longer) > budget:
            break
        cut = longer
    return cut


def _beginnings(goal: str) -> Iterator[str]:
    """Its first sentence, its first two, and so on."""
    end = 0
    for each in sentences(goal):
        at = goal.find(each.text, end)
        if at >= 0:
            end = at + len(each.text)
            yield goal[:end].strip()


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

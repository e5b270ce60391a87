"""Retention roles (`keep_roles`): tool calls, edits, and what decisions rest on."""

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from pinfold.compaction.atoms import Atom
from pinfold.compaction.content import holds_data
from pinfold.compaction.next_window import NextWindow
from pinfold.compaction.view import WindowEntry, WindowView
from pinfold.rollout.acts import edits
from pinfold.rollout.memory import Evidence

TOOL, DIFF, DECISION = "tool", "diff", "decision"
ROLES = (DECISION, DIFF, TOOL)
"""The most valuable first; an item has the first that fits."""
_REASONS = {
    TOOL: "kept role: tool call",
    DIFF: "kept role: edit",
    DECISION: "cited by a decision",
}


class KeptByRole(Struct, frozen=True):
    """What a role keeps together: a call with its result, or one message."""

    role: str
    entries: Atom

    @property
    def reason(self) -> str:
        return _REASONS[self.role]


def kept(view: WindowView, roles: Collection[str]) -> list[KeptByRole]:
    """What the roles keep, oldest first, without calls that have no result yet."""
    cited = _cited(view) if DECISION in roles else frozenset[int]()
    found: list[KeptByRole] = []
    for entry in view.entries:
        item = entry.item
        if item.kind == "tool_call" and entry.partner in view.by_number:
            result = view.by_number[entry.partner]
            fitting = {TOOL, *([DIFF] if edits(item, result.item) else [])}
            if cited & {item.n, result.n}:
                fitting.add(DECISION)
            if role := next(
                (
                    known_role
                    for known_role in ROLES
                    if known_role in fitting and known_role in roles
                ),
                None,
            ):
                found.append(KeptByRole(role, (entry, result)))
        elif item.n in cited and item.kind in ("user", "assistant"):
            found.append(KeptByRole(DECISION, (entry,)))
    return found


def keep_roles(
    next_window: NextWindow, roles: Sequence[KeptByRole], budget: int, oversized: int
) -> list[Atom]:
    """Keep what fits `budget` tokens, by role, newest first; returned oldest first. Results of tool
    calls are masked, except the newest that fit in what is left.
    """
    found: list[KeptByRole] = []
    for role in ROLES:
        for rule in (kept_role for kept_role in reversed(roles) if kept_role.role == role):
            if all(next_window.free(entry) for entry in rule.entries):
                before = next_window.size
                for entry in rule.entries:
                    _keep(next_window, entry, rule)
                if next_window.size - before > budget:
                    next_window.drop(rule.entries)
                else:
                    budget -= next_window.size - before
                    found.append(rule)
    for rule in found:
        result = rule.entries[-1]
        more = result.tokens - next_window.cost[result.n]
        large = result.full > oversized or holds_data(result.item)
        if rule.role == TOOL and 0 < more <= budget and not large:
            next_window.keep(result, "keep", rule.reason)
            budget -= more
    return sorted((rule.entries for rule in found), key=lambda entries: entries[0].n)


def _keep(next_window: NextWindow, entry: WindowEntry, kept: KeptByRole) -> None:
    item = entry.item
    if item.kind == "tool_result" and (kept.role == TOOL or holds_data(item)):
        next_window.mask(entry, kept.reason, kept.reason)
    elif item.kind == "user":
        next_window.keep_message(entry, kept.reason)
    else:
        next_window.keep(entry, "keep", kept.reason)


def _cited(view: WindowView) -> frozenset[int]:
    return frozenset(
        [*(statement.item for statement in view.known.core.stated()), *_evidence(view)]
    )


def _evidence(view: WindowView) -> Iterator[int]:
    """The items that accepted decisions rest on: messages, results, the newest about a file."""
    calls = {e.item.call_id: e.n for e in view.entries if e.item.kind == "tool_result"}
    files = {path: entry.n for entry in view.entries for path in entry.files}
    for decision in view.checkpoint.decisions:
        match decision.evidence:
            case Evidence(source="user", ref=ref):
                n = int(ref.removeprefix("#")) if ref.removeprefix("#").isdecimal() else None
            case Evidence(source="tool_output", ref=ref):
                n = calls.get(ref)
            case Evidence(ref=ref):
                n = files.get(ref)
        if n is not None:
            yield n

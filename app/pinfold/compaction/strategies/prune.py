"""`prune`: the same items, old bodies masked."""

from collections.abc import Iterable

from pinfold.compaction.atoms import atoms, tail
from pinfold.compaction.budget import OVERSIZED, room
from pinfold.compaction.content import (
    holds_data,
    is_rebuilt_each_turn,
    replacement_of,
    without_data,
)
from pinfold.compaction.kept_files import kept_files
from pinfold.compaction.mask_order import LEAST, saved, spared, superseded
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.plan_builder import PlanBuilder
from pinfold.compaction.strategy import Material, ModelFree, Traits
from pinfold.compaction.view import PlanOptions, WindowEntry, WindowView
from pinfold.rollout.items import Kind
from pinfold.window.pins import named

SUPERSEDED = "superseded by a later one"
DATA = "holds pictures or base64"
OVERSIZED_OUTPUT = "an oversized output"
OLD = "an old result"
IN_USE = "in use"
ALWAYS = (DATA,)
"""Reasons to mask even if the target is met."""
BODIES = frozenset[Kind]({"tool_call", "tool_result"})
MASKED = 12
"""Tokens that a masked item takes, at least."""


class Prune(ModelFree):
    """Masks what is superseded, then the oldest, until the target is met: never pins, never the
    tail; what is in use last, or not at all."""

    name = "prune"
    traits = Traits(keeps_roles=False, leaves_tail=True, about="the same items, old output masked")

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:  # noqa: ARG002
        """It may fall short of the target."""
        return masked_builder(view, options).build(self.name)


def masked_builder(view: WindowView, options: PlanOptions, more: int = 0) -> PlanBuilder:
    """A builder with the window masked to meet the target together with `more` tokens."""
    builder = PlanBuilder(view)
    held = _staying(view, options)
    for n, reason in held.items():
        builder.put(n, "pin" if reason.startswith("pinned") else "keep", reason)
    target = room(view, options).target
    size = view.tokens + more
    bodies: list[WindowEntry] = []
    for entry in view.entries if options.fold else _shrinking(view):
        item = entry.item
        if item.n in held:
            continue
        if options.fold and options.fold & {item.n, entry.partner}:
            builder.put(item.n, "fold", "you folded it")
            size -= entry.tokens
        elif is_rebuilt_each_turn(item):
            builder.put(item.n, "archive", "rebuilt with each turn")
            size -= entry.tokens
        elif item.n in _messages_with_data(view):
            builder.replace(
                item.n, replacement_of(item, without_data(item)), "its data is left out"
            )
        elif item.kind in BODIES and entry.form == "full" and entry.sent:
            bodies.append(entry)
    masked: dict[int, tuple[str, int]] = {}
    for reason, some in _by_reason(view, bodies, target):
        for entry in some:
            if reason not in ALWAYS and size <= target:
                break
            if less := saved(entry, view):
                masked[entry.item.n] = reason, less
                size -= less
    for n, (reason, less) in reversed(masked.items()):  # a later one may have made it unnecessary
        if reason not in ALWAYS and size + less <= target:
            size += less
        else:
            builder.put(n, "mask", reason)
    return builder


def least(view: WindowView, options: PlanOptions) -> int:
    """The fewest tokens that masking can reach, as counted here."""
    held = _staying(view, options)
    some = view.entries if options.fold else _shrinking(view)
    free = (entry for entry in some if entry.item.n not in held)
    return view.tokens - sum(entry.tokens - _least_of(view, entry, options) for entry in free)


def _least_of(view: WindowView, entry: WindowEntry, options: PlanOptions) -> int:
    item = entry.item
    if options.fold and options.fold & {item.n, entry.partner}:
        return 0
    if item.kind in BODIES:
        return entry.tokens if entry.tokens < LEAST else MASKED
    if is_rebuilt_each_turn(item) or item.n in _messages_with_data(view):
        return 0
    return entry.tokens


def _shrinking(view: WindowView) -> list[WindowEntry]:
    """What may shrink without the user asking, in order: results, long calls, messages with data,
    and what each turn rebuilds."""

    def make() -> list[WindowEntry]:
        data = _messages_with_data(view)
        return [
            entry
            for entry in view.entries
            if (kind := entry.item.kind) == "tool_result"
            or (kind == "tool_call" and entry.tokens >= LEAST)
            or (kind == "user" and entry.item.n in data)
            or (kind == "context" and is_rebuilt_each_turn(entry.item))
        ]

    return view.once("shrinking", make)


def _messages_with_data(view: WindowView) -> frozenset[int]:
    return view.once("messages with data", lambda: _with_data(view.of_kind("user")))


def _results_with_data(view: WindowView) -> frozenset[int]:
    return view.once("results with data", lambda: _with_data(view.of_kind("tool_result")))


def _with_data(entries: Iterable[WindowEntry]) -> frozenset[int]:
    return frozenset(entry.item.n for entry in entries if holds_data(entry.item))


def _staying(view: WindowView, options: PlanOptions) -> dict[int, str]:
    newest = tail(atoms(view), options.max_tail_messages)
    held = {
        e.item.n: "in the tail" for atom in newest for e in atom if e.item.n not in options.fold
    }
    kept = kept_files(view, options, view.tokens)
    held |= {n: f"kept by {glob}" for n, glob in kept.items()}
    if view.latest_request is not None:
        held[view.latest_request.item.n] = "your latest request"
    for entry in view.entries if options.keep else view.pinned:
        n = entry.item.n
        if entry.pin is not None:
            held[n] = f"pinned by {named([entry.pin])}"
        elif options.keep & {n, entry.partner}:
            held[n] = "you keep it"
    if options.spare:
        held |= dict.fromkeys(spared(view) - held.keys() - options.fold, IN_USE)
    return held


def _by_reason(
    view: WindowView, bodies: list[WindowEntry], target: int
) -> list[tuple[str, list[WindowEntry]]]:
    """The bodies by the reason to mask them, the most urgent first; those in use last."""
    found: dict[str, list[WindowEntry]] = {
        reason: [] for reason in (SUPERSEDED, DATA, OVERSIZED_OUTPUT, OLD, IN_USE)
    }
    for entry in bodies:
        n = entry.item.n
        if n in superseded(view):
            reason = SUPERSEDED
        elif n in _results_with_data(view):
            reason = DATA
        elif entry.full > OVERSIZED * target:
            reason = OVERSIZED_OUTPUT
        else:
            reason = IN_USE if n in spared(view) else OLD
        found[reason].append(entry)
    return list(found.items())

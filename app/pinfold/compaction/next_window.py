"""The next window while a strategy chooses what stays, in which form, at what cost.

Three steps lead to a new window: a `NextWindow` makes a `PlanBuilder`, that builds a
`CompactionPlan`, and the session wraps the plan in a `CompactionDraft`, which it shows and applies.
"""

from typing import Any

from pinfold.compaction.atoms import Atom, atoms
from pinfold.compaction.budget import CUT_REQUEST, LARGE_REQUEST
from pinfold.compaction.content import (
    ends_of,
    holds_data,
    is_rebuilt_each_turn,
    replacement_of,
    without_data,
)
from pinfold.compaction.kept_files import kept_files
from pinfold.compaction.mask_order import saved
from pinfold.compaction.plan import Planned, Verdict
from pinfold.compaction.plan_builder import PlanBuilder, uncounted
from pinfold.compaction.rendering import tokens_as
from pinfold.compaction.view import PlanOptions, WindowEntry, WindowView
from pinfold.rollout.items import ABOUT, GOAL, Item, Kind
from pinfold.window.pins import named

OLDER = "older than the tail"
_UNWANTED = "you folded it"
_SUPERSEDED: frozenset[Kind] = frozenset({"checkpoint", "summary", "compaction"})


class NextWindow:
    """Empty at first. Items are kept, shortened, masked or replaced, and may be dropped again."""

    def __init__(self, view: WindowView, options: PlanOptions) -> None:
        self.view = view
        self.options = options
        self.kept: dict[int, tuple[Verdict, str]] = {}
        self.cost: dict[int, int] = {}
        """Tokens of each item that stays in some form."""
        self.size = 0
        """All of `cost`, and the inserted text."""
        self.inserted: Item | None = None
        self.inserted_cost = 0
        self._cut: dict[int, tuple[Item, str]] = {}
        """Replacements for messages that can't stay as they are, by number."""
        self._notes: list[str] = []
        self._gone = _leaving(view, options)

    def free(self, entry: WindowEntry) -> bool:
        """Whether it may stay and is not kept yet."""
        n = entry.item.n
        return n not in self.cost and self._gone[n].reason == OLDER

    def fixed(self, entry: WindowEntry) -> bool:
        """Whether it is never dropped."""
        request = self.view.latest_request
        if entry.pin is not None or (request is not None and entry.n == request.n):
            return True
        return bool(self.options.keep & {entry.n, entry.partner})

    def insert(self, kind: Kind, text: str, detail: dict[str, Any]) -> None:
        """Begin the window with that text; with none if it is blank."""
        self.size -= self.inserted_cost
        self.inserted, self.inserted_cost = None, 0
        if text.strip():
            self.inserted = Item(n=0, kind=kind, content=text, detail=detail)
            self.inserted_cost = self.view.count_item(self.inserted)
            self.size += self.inserted_cost

    def keep(self, entry: WindowEntry, verdict: Verdict, reason: str) -> None:
        self.kept[entry.n] = (verdict, reason)
        self._charge(entry.n, entry.tokens)

    def keep_fixed(self) -> None:
        """Keep pins, what the user keeps, and the latest request, cut if it is too large."""
        view, keep = self.view, self.options.keep
        for entry in view.entries if keep else view.pinned:
            if entry.pin is not None:
                self.keep(entry, "pin", f"pinned by {named([entry.pin])}")
            elif keep & {entry.n, entry.partner}:
                self.keep(entry, "keep", "you keep it")
        request = view.latest_request
        if request is None or request.n in self.kept:
            return
        if request.full <= LARGE_REQUEST * view.context_window:
            self.keep(request, "keep", "your latest request")
            return
        text = self.ends(request, int(CUT_REQUEST * view.context_window))
        self.replace(request, text, "your latest request, over a quarter of the window")
        if text != request.item.content:
            self._notes.append(
                f"#{request.n}, your latest request, takes over a quarter of the window: its "
                f"middle is left out, and recall({request.n}) brings it back."
            )

    def keep_files(self, budget: int) -> list[Atom]:
        """Keep the newest items of the files that the options name; those kept, oldest first."""
        found: dict[int, Atom] = {}
        for n, glob in kept_files(self.view, self.options, budget).items():
            entry = self.view.by_number[n]
            if self.free(entry):
                self.keep(entry, "keep", f"kept by {glob}")
                pair = self.pair(entry)
                found[pair[0].n] = pair
        return [found[n] for n in sorted(found)]

    def ends(self, entry: WindowEntry, budget: int) -> str:
        """Beginning and end of its text in `budget` tokens, and how to recall all of it."""
        whole = int(entry.item.detail.get("replaces", entry.n))  # it may have been cut before
        return ends_of(without_data(entry.item), whole, budget, self.view.count)

    def keep_message(self, entry: WindowEntry, reason: str) -> None:
        """Keep a message, without pictures and base64."""
        if holds_data(entry.item):
            self.replace(entry, without_data(entry.item), f"{reason}; its data is left out")
        else:
            self.keep(entry, "keep", reason)

    def replace(self, entry: WindowEntry, text: str, reason: str) -> None:
        item = replacement_of(entry.item, text)
        self._cut[entry.n] = (item, reason)
        self._charge(entry.n, self.view.count_item(item))

    def mask(self, entry: WindowEntry, reason: str, unmasked: str = "in the tail") -> None:
        """Mask a result if that pays; else keep it, for the reason `unmasked`."""
        if less := saved(entry, self.view):
            self.kept[entry.n] = ("mask", reason)
            self._charge(entry.n, entry.tokens - less)
        elif entry.n not in self.kept:
            self.keep(entry, "keep", unmasked)

    def shorten(self, entry: WindowEntry, reason: str) -> None:
        """Keep the ends of a result if that is shorter."""
        tokens = tokens_as(entry, "short", self.view)
        if tokens < self.cost.get(entry.n, entry.tokens):
            self.kept[entry.n] = ("shorten", reason)
            self._charge(entry.n, tokens)
        elif entry.n not in self.kept:
            self.keep(entry, "keep", reason)

    def in_full(self) -> frozenset[int]:
        """The items that the window has in full."""
        return frozenset(
            n
            for n, (verdict, _) in self.kept.items()
            if verdict in ("keep", "pin") and self.view.by_number[n].form == "full"
        ) | frozenset(self._cut)

    def shortened(self) -> list[int]:
        return [n for n, (verdict, _) in self.kept.items() if verdict == "shorten"]

    def drop(self, atom: Atom) -> bool:
        """Drop what may go of it; false if nothing may."""
        gone = [e.n for e in atom if e.n in self.cost and not self.fixed(e)]
        for n in gone:
            self.size -= self.cost.pop(n)
            self.kept.pop(n, None)
            self._cut.pop(n, None)
        return bool(gone)

    def pair(self, entry: WindowEntry) -> Atom:
        """A call and its result, or an item alone."""
        partner = self.view.by_number.get(entry.partner or 0)
        both = [entry] if partner is None else [entry, partner]
        return tuple(sorted(both, key=lambda half: half.n))

    def plan_builder(self) -> PlanBuilder:
        """A builder with a verdict on each item, as chosen so far."""
        view = self.view
        builder = PlanBuilder(view, self._gone)
        builder.first = self.inserted
        builder.notes += self._notes
        if self.inserted is not None:
            for kind in _SUPERSEDED:
                for entry in view.of_kind(kind):
                    builder.put(entry.n, "replace", self._gone[entry.n].reason)
        alone = self._thoughts_alone()
        for n, (verdict, reason) in self.kept.items():
            if n not in alone:
                builder.put(n, verdict, reason)
        for n, (item, reason) in self._cut.items():
            builder.replace(n, item, reason)
        return builder

    def _charge(self, n: int, tokens: int) -> None:
        self.size += tokens - self.cost.get(n, 0)
        self.cost[n] = tokens

    def _thoughts_alone(self) -> set[int]:
        """Reasoning that must go because its response does not stay whole."""
        found: set[int] = set()
        if self.view.of_kind("reasoning"):
            for atom in atoms(self.view):
                if any(entry.n not in self.kept for entry in atom):
                    thoughts = (e for e in atom if e.item.kind == "reasoning" and e.pin is None)
                    found.update(e.n for e in thoughts)
        return found


def _leaving(view: WindowView, options: PlanOptions) -> dict[int, Planned]:
    """The verdict on each item that does not stay."""
    gone = view.once("gone", lambda: _all_gone(view))
    if not options.fold:
        return gone
    out = (e for e in view.entries if options.fold & {e.item.n, e.partner})
    return {**gone, **{entry.n: uncounted(entry, "archive", _UNWANTED) for entry in out}}


def _all_gone(view: WindowView) -> dict[int, Planned]:
    gone = {
        n: Planned(n, "archive", OLDER if entry.sent else "folded already", entry.tokens, 0)
        for n, entry in view.by_number.items()
    }
    for entry in view.of_kind("context"):
        if is_rebuilt_each_turn(entry.item):
            gone[entry.n] = uncounted(entry, "archive", "rebuilt with each turn")
        elif ABOUT in entry.item.detail:
            gone[entry.n] = uncounted(entry, "archive", "repeated where it still applies")
        elif GOAL in entry.item.detail:
            gone[entry.n] = uncounted(entry, "archive", "the core has the goal")
    for kind in _SUPERSEDED:
        for entry in view.of_kind(kind):
            gone[entry.n] = uncounted(entry, "archive", "replaced by the inserted text")
    return gone

"""What stays of a window while the next one is put together, and what it takes."""

from collections.abc import Iterator
from typing import Any

from pinfold.compaction.atoms import Atom, atoms
from pinfold.compaction.content import holds_data, is_made_anew, standing_for, without_data
from pinfold.compaction.draft import Draft, masked_tokens
from pinfold.compaction.plan import Verdict
from pinfold.compaction.view import Entry, PlanOptions, WindowView
from pinfold.rollout.items import Item, Kind

OLDER = "older than the tail"
_SUPERSEDED: frozenset[Kind] = frozenset({"checkpoint", "summary", "compaction"})


class Holding:
    """Nothing at first. Items are kept, masked or replaced, and given up again."""

    def __init__(self, view: WindowView, options: PlanOptions) -> None:
        self.view = view
        self.options = options
        self.kept: dict[int, tuple[Verdict, str]] = {}
        self.cost: dict[int, int] = {}
        """Of each item that stays in one form or another."""
        self.size = 0
        """All of `cost`, and the inserted text."""
        self.inserted: Item | None = None
        self.inserted_cost = 0
        self._cut: dict[int, tuple[Item, str]] = {}
        """What goes in for messages that can't stay as they are, by their number."""

    def free(self, entry: Entry) -> bool:
        """Whether it could stay and is not yet told to."""
        return entry.n not in self.cost and self._why_gone(entry) == OLDER

    def fixed(self, entry: Entry) -> bool:
        """Whether it is never given up."""
        request = self.view.latest_request
        if entry.pin is not None or (request is not None and entry.n == request.n):
            return True
        return bool(self.options.keep & {entry.n, entry.partner})

    def insert(self, kind: Kind, text: str, detail: dict[str, Any]) -> None:
        """Begin with that text, in the place of any other; with none where it is blank."""
        self.size -= self.inserted_cost
        self.inserted, self.inserted_cost = None, 0
        if text.strip():
            self.inserted = Item(n=0, kind=kind, content=text, detail=detail)
            self.inserted_cost = self.view.count_item(self.inserted)
            self.size += self.inserted_cost

    def keep(self, entry: Entry, verdict: Verdict, reason: str) -> None:
        self.kept[entry.n] = (verdict, reason)
        self._charge(entry.n, entry.tokens)

    def keep_message(self, entry: Entry, reason: str) -> None:
        """Keep a message, without what must not enter a new window."""
        if holds_data(entry.item):
            self.replace(entry, without_data(entry.item), f"{reason}; its data is left out")
        else:
            self.keep(entry, "keep", reason)

    def replace(self, entry: Entry, text: str, reason: str) -> None:
        item = standing_for(entry.item, text)
        self._cut[entry.n] = (item, reason)
        self._charge(entry.n, self.view.count_item(item))

    def mask(self, entry: Entry, reason: str, unmasked: str = "in the tail") -> None:
        """Mask a result where that helps; else it is kept, for `unmasked`."""
        tokens = masked_tokens(entry, self.view)
        if tokens < entry.tokens:
            self.kept[entry.n] = ("mask", reason)
            self._charge(entry.n, tokens)
        elif entry.n not in self.kept:
            self.keep(entry, "keep", unmasked)

    def mask_all(self, atom: Atom) -> Iterator[bool]:
        """Mask its results that stay, one with each step."""
        for entry in atom:
            if entry.item.kind == "tool_result" and entry.n in self.kept and not self.fixed(entry):
                before = self.cost[entry.n]
                self.mask(entry, "its output did not fit")
                if self.cost[entry.n] < before:
                    yield True

    def drop(self, atom: Atom) -> bool:
        """Give up what may go of it; whether anything did."""
        gone = [e.n for e in atom if e.n in self.cost and not self.fixed(e)]
        for n in gone:
            self.size -= self.cost.pop(n)
            self.kept.pop(n, None)
            self._cut.pop(n, None)
        return bool(gone)

    def pair(self, entry: Entry) -> Atom:
        """A call and its result, or an item alone."""
        partner = self.view.by_number.get(entry.partner or 0)
        both = [entry] if partner is None else [entry, partner]
        return tuple(sorted(both, key=lambda each: each.n))

    def draft(self) -> Draft:
        """The next window as it stands."""
        draft = Draft(self.view)
        draft.first = self.inserted
        whole = self._whole_responses()
        for entry in self.view.entries:
            n = entry.item.n
            if n in self._cut:
                draft.replace(n, *self._cut[n])
            elif n in self.kept and (entry.item.kind != "reasoning" or n in whole):
                draft.put(n, *self.kept[n])
            elif entry.item.kind in _SUPERSEDED and self.inserted is not None:
                draft.put(n, "replace", self._why_gone(entry))
            else:
                draft.put(n, "archive", self._why_gone(entry))
        return draft

    def _charge(self, n: int, tokens: int) -> None:
        self.size += tokens - self.cost.get(n, 0)
        self.cost[n] = tokens

    def _why_gone(self, entry: Entry) -> str:
        item, fold = entry.item, self.options.fold
        if fold and (item.n in fold or entry.partner in fold):
            return "you want it out"
        if item.kind in _SUPERSEDED:
            return "superseded by what is inserted"
        if is_made_anew(item):
            return "made anew with each turn"
        return OLDER if entry.sent else "folded already"

    def _whole_responses(self) -> set[int]:
        """Reasoning that may stay: that of responses which stay with all their parts, or pinned."""
        found: set[int] = set()
        for atom in atoms(self.view):
            thoughts = [entry for entry in atom if entry.item.kind == "reasoning"]
            if thoughts:
                whole = all(entry.n in self.kept for entry in atom)
                found.update(e.n for e in thoughts if whole or e.pin is not None)
        return found

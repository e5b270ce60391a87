"""A new window from its parts: an inserted text, pins, the user's messages, the tail.

It begins with all that may stay and gives up one piece after the other until it fits: tool
results of the tail, the tail's older responses, files kept by a glob, the user's messages, the
inserted text, each oldest first. Pins and the latest request never.
"""

from collections.abc import Callable, Iterator

from pinfold.compaction.atoms import Atom, atoms, open_atom, tail
from pinfold.compaction.budget import (
    CUT_REQUEST,
    KEPT_FILES,
    LARGE_REQUEST,
    OVERSIZED,
    SPARE,
    room,
)
from pinfold.compaction.content import (
    ends_of,
    holds_data,
    is_made_anew,
    standing_for,
    without_data,
)
from pinfold.compaction.draft import Draft, masked_tokens
from pinfold.compaction.plan import CompactionPlan, Verdict
from pinfold.compaction.refusals import Impossible
from pinfold.compaction.view import Entry, PlanOptions, WindowView, is_edit, newest_about
from pinfold.rollout.items import Item, Kind
from pinfold.window.pins import named

OLDER = "older than the tail"
_SUPERSEDED: frozenset[Kind] = frozenset({"checkpoint", "summary", "compaction"})

Text = Callable[[int], str]
"""The text to insert, for a window whose target is that many tokens."""


def assemble(
    view: WindowView, options: PlanOptions, strategy: str, kind: Kind, text: Text
) -> CompactionPlan:
    """A window that begins with `text`, as an item of `kind`. Raises `Impossible`."""
    return _Assembly(view, options).plan(strategy, kind, text)


class _Assembly:
    def __init__(self, view: WindowView, options: PlanOptions) -> None:
        self._view = view
        self._options = options
        self._room = room(view, options)
        self._kept: dict[int, tuple[Verdict, str]] = {}
        self._cut: dict[int, tuple[Item, str]] = {}
        """What goes in for messages that can't stay as they are, by their number."""
        self._cost: dict[int, int] = {}
        self._size = 0
        """All of `_cost`, and the inserted text."""
        self._inserted: Item | None = None
        self._inserted_cost = 0

    def plan(self, strategy: str, kind: Kind, text: Text) -> CompactionPlan:
        self._keep_fixed()
        fixed = self._size
        if fixed > self._room.usable:
            raise self._impossible()
        hard = max(fixed, self._room.comfortable)
        margin = int(SPARE * self._room.target)
        spare = max(self._room.target - fixed, min(margin, hard - fixed))
        self._insert(kind, text, spare)
        every = atoms(self._view)
        newest, unseen = tail(every, self._options.max_tail_messages), open_atom(every)
        users = self._keep_users(spare)
        self._keep_tail(newest, unseen)
        files = self._keep_files(int(KEPT_FILES * spare))
        steps = self._steps(newest, unseen, files, users)
        least = fixed + self._fit_unseen(unseen, hard - fixed - margin)
        limit = min(hard, max(fixed + spare, least + margin))
        while True:
            while self._size > limit and next(steps, None) is not None:
                pass
            draft = self._draft()
            plan = draft.plan(strategy)
            over = plan.sizes.after - self._view.corrected(max(fixed, self._room.comfortable))
            if over <= 0 or next(steps, None) is None:
                break
        if plan.sizes.headroom < 0:
            raise self._impossible()
        if plan.sizes.after > self._view.corrected(self._room.comfortable):
            draft.notes.append(
                f"Only {plan.sizes.headroom:,} tokens of headroom: "
                f"{', '.join(f'{name} {tokens:,}' for name, tokens in self._fixed())} have to stay."
            )
            plan = draft.plan(strategy)
        return plan

    # What may stay

    def _keep_fixed(self) -> None:
        view = self._view
        for entry in view.entries:
            if entry.pin is not None:
                self._keep(entry, "pin", f"pinned by {named([entry.pin])}")
            elif entry.item.n in self._options.keep:
                for each in self._pair(entry):
                    self._keep(each, "keep", "you keep it")
        request = view.latest_request
        if request is None or request.item.n in self._kept:
            return
        if request.full > LARGE_REQUEST * view.context_window:
            budget = int(CUT_REQUEST * view.context_window)
            whole = without_data(request.item)
            cut = ends_of(whole, request.item.n, budget, view.count)
            self._replace(request, cut, "your latest request, over a quarter of the window")
        else:
            self._keep(request, "keep", "your latest request")

    def _insert(self, kind: Kind, text: Text, target: int) -> None:
        told = self._options.text
        content = text(target) if told is None else told
        if content.strip():
            self._inserted = Item(n=0, kind=kind, content=content)
            self._inserted_cost = self._view.count_item(self._inserted)
            self._size += self._inserted_cost

    def _keep_tail(self, newest: list[Atom], unseen: Atom) -> None:
        oversized = OVERSIZED * self._room.target
        for atom in newest:
            for entry in atom:
                n, item = entry.item.n, entry.item
                if n in self._kept or n in self._cut or self._leaves(entry):
                    continue
                if item.kind == "user":
                    self._keep_message(entry, "in the tail")
                elif item.kind == "tool_result" and atom is not unseen and holds_data(item):
                    self._mask(entry, "holds pictures or base64")
                elif item.kind == "tool_result" and atom is not unseen and entry.full > oversized:
                    self._mask(entry, "an oversized output")
                else:
                    self._keep(entry, "keep", "in the tail")

    def _fit_unseen(self, unseen: Atom, most: int) -> int:
        """Mask results that the model has yet to see, where they leave no room; what they take."""
        for entry in unseen:
            if sum(self._cost.get(each.item.n, 0) for each in unseen) <= most:
                break
            if entry.item.kind == "tool_result" and not self._is_fixed(entry):
                self._mask(entry, "its output did not fit")
        free = (each for each in unseen if not self._is_fixed(each))
        return sum(self._cost.get(each.item.n, 0) for each in free)

    def _keep_files(self, budget: int) -> list[Atom]:
        """The newest reads and edits of files that the options name, oldest first."""
        entries = self._view.by_number
        numbers = [n for n, entry in entries.items() if entry.files]
        found: dict[int, Atom] = {}
        for glob in self._options.keep_files_glob:
            for n in newest_about(
                glob, numbers, lambda n: entries[n].files, lambda n: is_edit(entries[n].item.name)
            ):
                pair = self._pair(entries[n])
                free = [each for each in pair if self._free(each)]
                cost = sum(each.full for each in pair)
                if len(free) == len(pair) and cost <= budget:
                    budget -= cost
                    found[pair[0].item.n] = pair
                    for each in pair:
                        self._keep(each, "keep", f"kept by {glob}")
        return [found[n] for n in sorted(found)]

    def _keep_users(self, target: int) -> list[Entry]:
        """The user's messages, newest first, within their budget; those kept, oldest first."""
        most = int(self._options.user_share * target)
        left = min(self._options.user_message_tokens, most)
        found: list[Entry] = []
        for kind in ("user", "context"):
            for entry in reversed(self._view.entries):
                if entry.item.kind != kind or not self._free(entry) or entry.full > left:
                    continue
                self._keep_message(entry, "a user message" if kind == "user" else "instructions")
                left -= self._cost[entry.item.n]
                found.append(entry)
        return sorted(found, key=lambda entry: entry.item.n)

    def _free(self, entry: Entry) -> bool:
        n = entry.item.n
        return n not in self._kept and n not in self._cut and not self._leaves(entry)

    def _leaves(self, entry: Entry) -> bool:
        return self._why_gone(entry) != OLDER

    def _why_gone(self, entry: Entry) -> str:
        item, fold = entry.item, self._options.fold
        if fold and (item.n in fold or entry.partner in fold):
            return "you want it out"
        if item.kind in _SUPERSEDED:
            return "superseded by what is inserted"
        if is_made_anew(item):
            return "made anew with each turn"
        return OLDER if entry.sent else "folded already"

    def _pair(self, entry: Entry) -> Atom:
        partner = self._view.by_number.get(entry.partner or 0)
        both = [entry] if partner is None else [entry, partner]
        return tuple(sorted(both, key=lambda each: each.item.n))

    def _keep_message(self, entry: Entry, reason: str) -> None:
        if holds_data(entry.item):
            self._replace(entry, without_data(entry.item), f"{reason}; its data is left out")
        else:
            self._keep(entry, "keep", reason)

    def _keep(self, entry: Entry, verdict: Verdict, reason: str) -> None:
        self._kept[entry.item.n] = (verdict, reason)
        self._charge(entry.item.n, entry.tokens)

    def _charge(self, n: int, tokens: int) -> None:
        self._size += tokens - self._cost.get(n, 0)
        self._cost[n] = tokens

    def _mask(self, entry: Entry, reason: str) -> None:
        tokens = masked_tokens(entry, self._view)
        if tokens < entry.tokens:
            self._kept[entry.item.n] = ("mask", reason)
            self._charge(entry.item.n, tokens)
        elif entry.item.n not in self._kept:
            self._keep(entry, "keep", "in the tail")

    def _replace(self, entry: Entry, text: str, reason: str) -> None:
        item = standing_for(entry.item, text)
        self._cut[entry.item.n] = (item, reason)
        self._charge(entry.item.n, self._view.count_item(item))

    # What goes first

    def _steps(
        self, newest: list[Atom], unseen: Atom, files: list[Atom], users: list[Entry]
    ) -> Iterator[bool]:
        """Each step gives up one piece."""
        last = {entry.item.n for entry in users}
        older = [a for a in newest if a is not unseen and a[0].item.n not in last]
        for atom in older:
            yield from self._mask_all(atom)
        for atom in older:
            if self._drop(atom):
                yield True
        for pair in [*files, *((entry,) for entry in users)]:
            if self._drop(pair):
                yield True
        yield from self._mask_all(unseen)
        if self._inserted is not None and self._options.text is None:
            self._size -= self._inserted_cost
            self._inserted, self._inserted_cost = None, 0
            yield True
        if self._drop(unseen):
            yield True

    def _is_fixed(self, entry: Entry) -> bool:
        request = self._view.latest_request
        if entry.pin is not None or (request is not None and entry.item.n == request.item.n):
            return True
        return bool(self._options.keep & {entry.item.n, entry.partner})

    def _mask_all(self, atom: Atom) -> Iterator[bool]:
        for entry in atom:
            n = entry.item.n
            masks = entry.item.kind == "tool_result" and not self._is_fixed(entry)
            if masks and n in self._kept:
                before = self._cost[n]
                self._mask(entry, "its output did not fit")
                if self._cost[n] < before:
                    yield True

    def _drop(self, atom: Atom) -> bool:
        gone = [entry.item.n for entry in atom if not self._is_fixed(entry)]
        gone = [n for n in gone if n in self._cost]
        for n in gone:
            self._size -= self._cost.pop(n)
            self._kept.pop(n, None)
            self._cut.pop(n, None)
        return bool(gone)

    # What comes of it

    def _draft(self) -> Draft:
        draft = Draft(self._view)
        draft.first = self._inserted
        whole = self._whole_responses()
        for entry in self._view.entries:
            n = entry.item.n
            if n in self._cut:
                draft.replace(n, *self._cut[n])
            elif n in self._kept and (entry.item.kind != "reasoning" or n in whole):
                draft.put(n, *self._kept[n])
            elif entry.item.kind in _SUPERSEDED and self._inserted is not None:
                draft.put(n, "replace", self._why_gone(entry))
            else:
                draft.put(n, "archive", self._why_gone(entry))
        return draft

    def _whole_responses(self) -> set[int]:
        """Reasoning that may stay: that of responses which stay with all their parts, or pinned."""
        found: set[int] = set()
        for atom in atoms(self._view):
            thoughts = [entry for entry in atom if entry.item.kind == "reasoning"]
            if thoughts:
                whole = all(entry.item.n in self._kept for entry in atom)
                found.update(e.item.n for e in thoughts if whole or e.pin is not None)
        return found

    def _fixed(self) -> list[tuple[str, int]]:
        """What has to stay, with its tokens."""
        view, pins = self._view, [e for e in self._view.entries if e.pin is not None]
        rows = [("instructions and tools", view.correct(view.context_tokens))]
        if pins:
            name = named(dict.fromkeys(e.pin for e in pins if e.pin is not None))
            rows.append((f"pins ({name})", view.corrected(sum(e.tokens for e in pins))))
        if kept := [e for e in view.entries if e.item.n in self._options.keep and e not in pins]:
            rows.append(("what you keep", view.corrected(sum(e.tokens for e in kept))))
        request = view.latest_request
        if request is not None and request.pin is None and request not in kept:
            tokens = self._cost.get(request.item.n, request.tokens)
            rows.append(("your latest request", view.corrected(tokens)))
        if self._options.text is not None:
            rows.append(("the text to insert", view.corrected(self._inserted_cost)))
        return rows

    def _impossible(self) -> Impossible:
        reserve = ("room for the reply", self._view.reserve)
        return Impossible([*self._fixed(), reserve], self._view.context_window)

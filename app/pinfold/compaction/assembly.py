"""A new window from its parts: an inserted text, pins, the user's messages, the tail.

It begins with all that may stay and gives up one piece after the other until it fits: tool
results, the tail's older responses, files kept by a glob, the user's messages, the inserted text,
each oldest first. With roles to keep, the inserted text shrinks before the tail goes, and they
take the place of the user's messages. Pins and the latest request never go.

Room that is left goes to what was cut from the inserted text, then to older messages, the
agent's and the user's, newest first.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from pinfold.compaction.atoms import Atom, atoms, open_atom, tail
from pinfold.compaction.budget import (
    CUT_REQUEST,
    FILLED,
    KEPT_FILES,
    KEPT_ROLES,
    LARGE_REQUEST,
    OVERSIZED,
    SPARE,
    WIDER,
    room,
)
from pinfold.compaction.content import ends_of, holds_data, without_data
from pinfold.compaction.filling import LEAST, fill
from pinfold.compaction.holding import Holding
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.refusals import Impossible
from pinfold.compaction.roles import Kept, keep_roles
from pinfold.compaction.view import Entry, PlanOptions, WindowView
from pinfold.rollout.items import Kind
from pinfold.window.pins import named

_SMALLER = (0.5, 0.25, 0.125)
"""Of its room, that an inserted text shrinks to before the tail goes."""

Text = Callable[[int, int], tuple[str, dict[str, Any]]]
"""The text to insert and its item's detail, for a window whose target is that many tokens, with so
many to spare for what does not fit into its shares."""


def assemble(
    view: WindowView,
    options: PlanOptions,
    strategy: str,
    kind: Kind,
    text: Text,
    roles: Sequence[Kept] | None = None,
) -> CompactionPlan:
    """A window that begins with `text`, as an item of `kind`. Raises `Impossible`.

    `roles` stay, as far as they fit, instead of the user's messages.
    """
    return _Assembly(view, options).plan(strategy, kind, text, roles)


class _Assembly:
    def __init__(self, view: WindowView, options: PlanOptions) -> None:
        self._view = view
        self._options = options
        self._room = room(view, options)
        self._oversized = int(OVERSIZED * self._room.target)
        self._holding = Holding(view, options)

    def plan(
        self, strategy: str, kind: Kind, text: Text, roles: Sequence[Kept] | None
    ) -> CompactionPlan:
        self._keep_fixed()
        fixed = self._holding.size
        if fixed > self._room.usable:
            raise self._impossible()
        hard = max(fixed, self._room.comfortable)
        margin = int(SPARE * self._room.target)
        spare = max(self._room.target - fixed, min(margin, hard - fixed))
        self._insert(kind, text, spare)
        every = atoms(self._view)
        newest, unseen = tail(every, self._options.max_tail_messages), open_atom(every)
        users = self._keep_users(spare) if roles is None else []
        self._keep_tail(newest, unseen)
        files = self._keep_files(int(KEPT_FILES * spare))
        held = keep_roles(self._holding, roles or (), int(KEPT_ROLES * spare), self._oversized)
        older = self._older(newest, unseen, users)
        pieces = [*older, *files, *((entry,) for entry in users), *held]
        smaller = [] if roles is None else [int(part * spare) for part in _SMALLER]
        shrink = (self._insert(kind, text, target) for target in smaller)
        steps = self._steps([*held, *older], shrink, pieces, unseen)
        filled: list[Atom] = []
        every_step = chain(self._emptied(filled), steps, self._last_steps(unseen))
        least = fixed + self._fit_unseen(unseen, hard - fixed - margin)
        limit = min(hard, max(fixed + spare, least + margin))
        while self._holding.size > limit and next(steps, None) is not None:
            pass
        most = min(limit, self._room.target, int(FILLED * self._view.tokens))
        self._widen(kind, text, spare, most)
        if roles is None:
            filled += self._fill(users, older, unseen, most)
        while True:
            draft = self._holding.draft()
            plan = draft.plan(strategy)
            over = plan.sizes.after - self._view.corrected(max(fixed, self._room.comfortable))
            if over <= 0 or next(every_step, None) is None:
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
        for entry in view.entries if self._options.keep else view.pinned:
            if entry.pin is not None:
                self._holding.keep(entry, "pin", f"pinned by {named([entry.pin])}")
            elif entry.n in self._options.keep:
                for each in self._holding.pair(entry):
                    self._holding.keep(each, "keep", "you keep it")
        request = view.latest_request
        if request is None or request.n in self._holding.kept:
            return
        if request.full > LARGE_REQUEST * view.context_window:
            budget = int(CUT_REQUEST * view.context_window)
            whole = without_data(request.item)
            cut = ends_of(whole, request.n, budget, view.count)
            self._holding.cut_request(request, cut)
        else:
            self._holding.keep(request, "keep", "your latest request")

    def _insert(self, kind: Kind, text: Text, target: int, more: int = 0) -> bool:
        """Insert it, in the place of what was; whether that takes less now."""
        before, told = self._holding.size, self._options.text
        self._holding.insert(kind, *(text(target, more) if told is None else (told, {})))
        return self._holding.size < before

    def _keep_tail(self, newest: list[Atom], unseen: Atom) -> None:
        for atom in newest:
            for entry in atom:
                item = entry.item
                if not self._holding.free(entry):
                    continue
                if item.kind == "user":
                    self._holding.keep_message(entry, "in the tail")
                elif item.kind == "tool_result" and atom is not unseen and holds_data(item):
                    self._holding.mask(entry, "holds pictures or base64")
                elif (
                    item.kind == "tool_result"
                    and atom is not unseen
                    and entry.full > self._oversized
                ):
                    self._holding.mask(entry, "an oversized output")
                else:
                    self._holding.keep(entry, "keep", "in the tail")

    def _fit_unseen(self, unseen: Atom, most: int) -> int:
        """Mask results that the model has yet to see, where they leave no room; what they take."""
        for entry in unseen:
            if sum(self._holding.cost.get(each.n, 0) for each in unseen) <= most:
                break
            stays = entry.n in self._holding.cost and not self._holding.fixed(entry)
            if entry.item.kind == "tool_result" and stays:
                self._holding.mask(entry, "its output did not fit")
        free = (each for each in unseen if not self._holding.fixed(each))
        return sum(self._holding.cost.get(each.n, 0) for each in free)

    def _keep_files(self, budget: int) -> list[Atom]:
        """The newest reads and edits of files that the options name, oldest first."""
        entries = self._view.by_number
        found: dict[int, Atom] = {}
        for glob in self._options.keep_files_glob:
            for n in self._view.newest_about(glob):
                pair = self._holding.pair(entries[n])
                free = [each for each in pair if self._holding.free(each)]
                cost = sum(each.full for each in pair)
                if len(free) == len(pair) and cost <= budget:
                    budget -= cost
                    found[pair[0].n] = pair
                    for each in pair:
                        self._holding.keep(each, "keep", f"kept by {glob}")
        return [found[n] for n in sorted(found)]

    def _keep_users(self, target: int) -> list[Entry]:
        """The user's messages, newest first, within their budget; those kept, oldest first."""
        most = int(self._options.user_share * target)
        left = min(self._options.user_message_tokens, most)
        found: list[Entry] = []
        kinds: tuple[Kind, ...] = ("user", "context")
        for kind in kinds:
            for entry in reversed(self._view.of_kind(kind)):
                if entry.full > left or not self._holding.free(entry):
                    continue
                self._holding.keep_message(
                    entry, "a user message" if kind == "user" else "instructions"
                )
                left -= self._holding.cost[entry.n]
                found.append(entry)
        return sorted(found, key=lambda entry: entry.n)

    # What room is left for

    def _widen(self, kind: Kind, text: Text, target: int, most: int) -> None:
        """Let the inserted text take what it needs of the room that is left, up to its share."""
        more = int(WIDER * (most - self._holding.size))
        if more >= LEAST and self._holding.inserted is not None and self._options.text is None:
            self._insert(kind, text, target, more)

    def _fill(self, users: list[Entry], older: list[Atom], unseen: Atom, most: int) -> list[Atom]:
        """Older messages, then what had to go of the tail, newest first; all of it."""
        holding = self._holding
        taken = sum(holding.cost.get(entry.n, 0) for entry in users)
        found = fill(holding, most, self._options.user_message_tokens - taken)
        for atom in reversed(older):
            if any(entry.n in holding.cost for entry in atom):
                continue
            self._keep_tail([atom], unseen)
            if holding.size > most:
                holding.drop(atom)
            else:
                found.append(atom)
        return found

    def _emptied(self, filled: list[Atom]) -> Iterator[bool]:
        """Each step gives up one piece of what the room was filled with."""
        for atom in filled:
            if self._holding.drop(atom):
                yield True

    # What goes first

    def _older(self, newest: list[Atom], unseen: Atom, users: list[Entry]) -> list[Atom]:
        """The tail without what the model has yet to see, and without messages kept for long."""
        last = {entry.n for entry in users}
        return [atom for atom in newest if atom is not unseen and atom[0].n not in last]

    def _steps(
        self, bodies: list[Atom], shrink: Iterator[bool], pieces: list[Atom], unseen: Atom
    ) -> Iterator[bool]:
        """Each step gives up one piece."""
        for atom in bodies:
            yield from self._holding.mask_all(atom)
        yield from shrink
        for atom in pieces:
            if self._holding.drop(atom):
                yield True
        yield from self._holding.mask_all(unseen)

    def _last_steps(self, unseen: Atom) -> Iterator[bool]:
        """What is given up for room alone: a target is no reason to lose the user's own words."""
        if self._holding.inserted is not None and self._options.text is None:
            self._holding.insert("summary", "", {})
            yield True
        if self._holding.drop(unseen):
            yield True

    # What comes of it

    def _fixed(self) -> list[tuple[str, int]]:
        """What has to stay, with its tokens."""
        view, pins = self._view, self._view.pinned
        rows = [("instructions and tools", view.correct(view.context_tokens))]
        if pins:
            name = named(dict.fromkeys(e.pin for e in pins if e.pin is not None))
            rows.append((f"pins ({name})", view.corrected(sum(e.tokens for e in pins))))
        kept = [e for e in view.entries if e.n in self._options.keep and e.pin is None]
        if kept:
            rows.append(("what you keep", view.corrected(sum(e.tokens for e in kept))))
        request = view.latest_request
        if request is not None and request.pin is None and request not in kept:
            tokens = self._holding.cost.get(request.n, request.tokens)
            rows.append(("your latest request", view.corrected(tokens)))
        if self._options.text is not None:
            rows.append(("the text to insert", view.corrected(self._holding.inserted_cost)))
        return rows

    def _impossible(self) -> Impossible:
        reserve = ("room for the reply", self._view.reserve)
        return Impossible([*self._fixed(), reserve], self._view.context_window)

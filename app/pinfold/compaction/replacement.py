"""Replaces all history: the user's messages, then one item for the rest. Pins, the latest request
and what came after that item was made stay. Earlier summaries, injected context, pictures and
output do not.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec.structs import replace

from pinfold.compaction.atoms import atoms, open_atom
from pinfold.compaction.budget import SPARE, USER_MESSAGES, room
from pinfold.compaction.content import replacement_of
from pinfold.compaction.inserted import core_of, opening
from pinfold.compaction.next_window import NextWindow
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.plan_builder import PlanBuilder
from pinfold.compaction.rendering import rendered_now
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowEntry, WindowView
from pinfold.rollout.items import Item
from pinfold.window.refused import Refused

REPLACED = "replaced by the inserted text"
Front = Literal["all", "core", "nothing"]
"""What the window begins with."""
LEAST_CUT = 64
"""The fewest tokens that are worth keeping of a message."""


def replace_history(
    view: WindowView,
    material: Material,
    options: PlanOptions,
    strategy: str,
    item: Item,
    front: Front = "all",
) -> CompactionPlan:
    """A window in which `item`, made of `material`, replaces the last item that it covers. It
    begins with core, checkpoint and digest, or with the part of them that `front` names. Raises
    `Refused` where that leaves no room for what has to stay.
    """
    return _Replacement(view, material, options).plan(strategy, item, front)


def covered(view: WindowView) -> list[WindowEntry]:
    """What may be replaced: all but what the model has not seen yet."""
    unseen = {entry.n for entry in open_atom(atoms(view))}
    return [entry for entry in view.entries if entry.n not in unseen]


def as_sent(view: WindowView, entries: Iterable[WindowEntry]) -> list[Item]:
    """These items as a request carries them now, folded and masked."""
    known = {entry.n for entry in entries}
    return [shown.item for shown in rendered_now(view) if known.issuperset(shown.stands_for)]


def read_as_sent(view: WindowView, entries: Iterable[WindowEntry]) -> list[WindowEntry]:
    """Those that a request carries and that are not folded, each with the content it carries."""
    sent = {
        entry.stands_for[0]: entry.item
        for entry in rendered_now(view)
        if entry.form != "placeholder"
    }
    return [
        replace(entry, item=replace(entry.item, content=item.content, images=item.images))
        for entry in entries
        if (item := sent.get(entry.n)) is not None
    ]


class _Replacement:
    def __init__(self, view: WindowView, material: Material, options: PlanOptions) -> None:
        self._view = view
        self._material = material
        self._options = options
        self._next_window = NextWindow(view, options)
        every = atoms(view)
        unseen = open_atom(every)
        self._since = [
            entry
            for atom in every
            if atom is unseen or atom[-1].n > material.through
            for entry in atom
        ]
        """What the model has not seen yet, and all else that the item does not cover."""

    def plan(self, strategy: str, item: Item, front: Front) -> CompactionPlan:
        view, options, next_window = self._view, self._options, self._next_window
        goal = room(view, options)
        inserted = view.count_item(item)
        next_window.keep_fixed()
        self._keep_since(goal.comfortable - inserted)
        next_window.keep_files(goal.comfortable - inserted - next_window.size)
        size = inserted + next_window.size
        if size > goal.comfortable:
            raise Refused("What has to stay leaves no room for the text to insert.")
        left = min(max(goal.target - size, int(SPARE * goal.target)), goal.comfortable - size)
        share = int(USER_MESSAGES * goal.target)
        users = self._keep_users(min(options.user_message_tokens, share, left))
        left -= next_window.size + inserted - size
        first: Item | None = None
        if front != "nothing":
            left = min(left, int(options.filled * view.tokens) - next_window.size - inserted)
            text = (
                core_of(view, options, goal.target, left).text
                if front == "core"
                else opening(
                    view, options, goal.target, left, next_window.in_full(), beside=item.content
                )
            )
            first = Item(n=0, kind="checkpoint", content=text) if text else None
        while True:
            plan = self._builder(item, first).build(strategy, self._material.meta)
            if plan.sizes.after <= view.correct_items(goal.comfortable) or not users:
                return plan
            next_window.drop((users.pop(),))

    # What stays

    def _keep_since(self, most: int) -> None:
        """Keep what came since; its results are masked if there is no room."""
        next_window = self._next_window
        for entry in self._since:
            if next_window.free(entry):
                next_window.keep(entry, "keep", "it came since")
        for entry in self._since:
            stays = entry.n in next_window.kept and not next_window.fixed(entry)
            if next_window.size > most and stays and entry.item.kind == "tool_result":
                next_window.mask(entry, "its output did not fit")

    def _keep_users(self, left: int) -> list[WindowEntry]:
        """Keep the user's messages, newest first; the one that no longer fits is cut in its
        middle."""
        view, next_window = self._view, self._next_window
        found: list[WindowEntry] = []
        for entry in reversed(view.of_kind("user")):
            if not next_window.free(entry):
                continue
            found.append(entry)
            next_window.keep_message(entry, "a user message")
            if next_window.cost[entry.n] <= left:
                left -= next_window.cost[entry.n]
                continue
            if left >= LEAST_CUT:
                around = view.count_item(replacement_of(entry.item, ""))
                text = next_window.ends(entry, left - around)
                next_window.replace(entry, text, "a user message, cut where its budget ends")
            else:
                next_window.drop((found.pop(),))
            break
        return found

    # The outcome

    def _builder(self, item: Item, first: Item | None) -> PlanBuilder:
        builder = self._next_window.plan_builder()
        builder.first = first
        builder.notes += self._material.notes
        gone = [entry for entry in self._view.entries if entry.n not in self._next_window.cost]
        for entry in gone:
            if self._next_window.free(entry):
                builder.put(entry.n, "replace", REPLACED)
        since = {entry.n for entry in self._since}
        last = next((entry for entry in reversed(gone) if entry.n not in since), None)
        if last is None:
            raise Refused("There is nothing to replace.")
        builder.replace(last.n, item, REPLACED)
        return builder

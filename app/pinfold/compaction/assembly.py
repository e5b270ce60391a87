"""A new window from its parts: an inserted text, pins, the latest request, the newest items.

Questions are answered from the digest, work continues from the newest items: of what core,
checkpoint and pins leave, these get 15% of the first 4,000 tokens and half of the rest, whole
atoms, the results of which are shortened where they don't fit. The digest gets the rest; what it
leaves goes to older items. The user's pins, the core and the latest request never go.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from pinfold.compaction.atoms import Atom, atoms, open_atom, tail
from pinfold.compaction.budget import (
    KEPT_ROLES,
    OVERSIZED,
    SPARE,
    room,
    tail_share,
)
from pinfold.compaction.content import holds_data
from pinfold.compaction.guards import MIN_GAIN
from pinfold.compaction.inserted import InsertedText, Summary, core_text, digest_of, head, left_out
from pinfold.compaction.next_window import NextWindow
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.refusals import Impossible
from pinfold.compaction.roles import KeptByRole, keep_roles
from pinfold.compaction.view import PlanOptions, WindowEntry, WindowView
from pinfold.rollout.items import Item, Kind
from pinfold.window.pins import named

_IN_TAIL = "in the tail"
CLOSE = 50
"""One part in this many of the room may stay empty."""
MUCH, GAPS = 8, 12
"""If more than one part in `MUCH` of the room is left, up to `GAPS` older atoms that don't fit are
skipped."""


def assemble(
    view: WindowView,
    options: PlanOptions,
    strategy: str,
    kind: Kind = "checkpoint",
    summary: Summary | None = None,
    roles: Sequence[KeptByRole] = (),
) -> CompactionPlan:
    """A window that begins with core, checkpoint, `summary` and digest, as an item of `kind`.

    `roles` stay as far as they fit. Raises `Impossible`.
    """
    return _Assembly(view, options, kind, summary).plan(strategy, roles)


class _Assembly:
    def __init__(
        self, view: WindowView, options: PlanOptions, kind: Kind, summary: Summary | None
    ) -> None:
        self._view = view
        self._options = options
        self._kind = kind
        self._summary = summary
        self._room = room(view, options)
        self._oversized = int(OVERSIZED * self._room.target)
        self._next_window = NextWindow(view, options)
        self._parts = InsertedText()

    def plan(self, strategy: str, roles: Sequence[KeptByRole]) -> CompactionPlan:
        next_window, space = self._next_window, self._room
        next_window.keep_fixed()
        core = core_text(self._view)
        fixed = next_window.size + (self._view.count(core) if core else 0)
        if fixed > space.usable:
            raise self._impossible()
        hard = max(fixed, space.comfortable)
        spare = max(space.target - fixed, min(int(SPARE * space.target), hard - fixed))
        limit = min(hard, fixed + spare)
        pinned = sum(entry.tokens for entry in self._view.pinned)
        most = pinned + int(self._options.filled * (self._view.tokens - pinned))
        limit = min(limit, max(most, fixed))
        every = atoms(self._view)
        self._opened = open_atom(every)
        most_open = (next_window.size + limit) // 2
        if pinned:  # older items give way, but for what makes it worth it
            spared = min(hard, int((1 - MIN_GAIN) * self._view.tokens))
            most_open = max(most_open, spared)
        self._keep_open(most_open, hard)
        margin = min(next_window.size + int(SPARE * space.target), most)
        limit = min(hard, max(limit, margin))
        self._write_head(spare, max(0, limit - next_window.size))
        pieces = [
            *next_window.keep_files(limit - next_window.size),
            *keep_roles(next_window, roles, int(KEPT_ROLES * spare), self._oversized),
        ]
        newest = tail(every, self._options.max_tail_messages)
        kept = self._keep_tail(newest, next_window.size + tail_share(limit - next_window.size))
        self._digest(limit)
        if next_window.size < limit - limit // CLOSE:
            older = newest if self._options.tail_bound else every
            more = self._keep_tail(older, limit)
            self._widen(limit)
            if next_window.size < limit - limit // MUCH:
                more += self._keep_tail(older, limit, gaps=GAPS)
            kept = sorted([*kept, *more], key=lambda atom: atom[0].n)
            self._digest(limit, freely=True)
        return self._fitted(strategy, limit, [*kept, *pieces])

    def _fitted(self, strategy: str, limit: int, pieces: Sequence[Atom]) -> CompactionPlan:
        """The plan, less what does not fit once all is counted."""
        steps = self._steps(limit, pieces)
        most = self._view.correct_items(max(limit, self._room.comfortable))
        while True:
            builder = self._next_window.plan_builder()
            plan = builder.build(strategy)
            if plan.sizes.after <= most or not next(steps, False):
                break
        if plan.sizes.headroom < 0:
            raise self._impossible()
        if plan.sizes.after > self._view.correct_items(self._room.comfortable):
            fixed = ", ".join(f"{name} {tokens:,}" for name, tokens in self._fixed_parts())
            builder.notes.append(
                f"Only {plan.sizes.headroom:,} tokens of headroom: {fixed} have to stay."
            )
            plan = builder.build(strategy)
        if self._options.text is not None:
            return plan
        said = left_out(self._view, self._parts, self._next_window.in_full())
        return replace(plan, told=(*plan.told, said))

    # What has to stay

    def _keep_open(self, most: int, hard: int) -> None:
        """Keep what the model has not seen yet, its longest results shortened if the window exceeds
        `most` tokens, and masked beyond `hard`."""
        next_window = self._next_window
        for entry in self._opened:
            self._keep_entry(entry, whole=True)
        longest = sorted(self._opened, key=lambda entry: -entry.full)
        for smaller, limit in ((next_window.shorten, most), (next_window.mask, hard)):
            for entry in longest:
                stays = entry.n in next_window.cost and not next_window.fixed(entry)
                if next_window.size > limit and stays and entry.item.kind == "tool_result":
                    smaller(entry, "its output did not fit")

    # What may stay

    def _keep_entry(self, entry: WindowEntry, *, whole: bool) -> None:
        item, next_window = entry.item, self._next_window
        if not next_window.free(entry):
            return
        if item.kind == "user":
            next_window.keep_message(entry, _IN_TAIL)
        elif item.kind != "tool_result" or whole:
            next_window.keep(entry, "keep", _IN_TAIL)
        elif holds_data(item):
            next_window.mask(entry, "holds pictures or base64")
        elif entry.full > self._oversized:
            next_window.shorten(entry, "an oversized output")
        else:
            next_window.keep(entry, "keep", _IN_TAIL)

    def _keep_tail(self, newest: Sequence[Atom], most: int, gaps: int = 0) -> list[Atom]:
        """Keep atoms, newest first, while the window fits `most` tokens; up to `gaps` that don't
        fit are skipped. Returns those kept, oldest first."""
        next_window = self._next_window
        found: list[Atom] = []
        for atom in reversed(newest):
            new = tuple(entry for entry in atom if next_window.free(entry))
            if not new:
                continue
            for entry in atom:
                self._keep_entry(entry, whole=False)
            for entry in atom:
                shrinks = entry.item.kind == "tool_result" and not next_window.fixed(entry)
                if next_window.size > most and shrinks and entry.n in next_window.cost:
                    next_window.shorten(entry, "its output did not fit")
            if next_window.size > most:
                next_window.drop(new)
                if gaps == 0:
                    break
                gaps -= 1
            else:
                found.append(atom)
        return found[::-1]

    def _widen(self, limit: int) -> None:
        """Keep results whole that were shortened for lack of room, the newest first."""
        next_window = self._next_window
        for n in sorted(next_window.shortened(), reverse=True):
            entry = self._view.by_number[n]
            if next_window.size + entry.tokens - next_window.cost[n] <= limit:
                next_window.keep(entry, "keep", _IN_TAIL)

    # The inserted text

    def _write_head(self, target: int, left: int) -> None:
        if self._options.text is not None:
            self._next_window.insert(self._kind, self._options.text, {})
            return
        self._parts = head(self._view, self._options, target, left, self._summary)
        self._insert()

    def _digest(self, limit: int, *, freely: bool = False) -> None:
        """Fill the rest with digest lines of items that are not there in full."""
        if self._options.text is not None:
            return
        next_window = self._next_window
        left = limit - (next_window.size - next_window.inserted_cost) - self._head_cost()
        self._parts.digest = digest_of(
            self._view,
            self._options,
            self._parts,
            next_window.in_full(),
            left,
            self._count,
            freely=freely,
        )
        self._insert()

    def _head_cost(self) -> int:
        return self._count(self._parts.head) if self._parts.head else 0

    def _count(self, text: str) -> int:
        return self._view.count_item(Item(n=0, kind=self._kind, content=text))

    def _insert(self) -> None:
        self._next_window.insert(self._kind, self._parts.text, self._parts.detail)

    # What is dropped if it does not fit

    def _steps(self, limit: int, pieces: Sequence[Atom]) -> Iterator[bool]:
        """Each step drops one piece: older items, parts of the text, digest lines, open calls."""
        next_window, parts = self._next_window, self._parts
        for atom in pieces:
            if next_window.drop(atom):
                yield True
        for name in ("note", "suggested", "checkpoint"):
            if getattr(parts, name):
                setattr(parts, name, "")
                self._digest(limit)
                yield True
        for entry in self._opened:
            if entry.item.kind == "tool_result" and entry.n in next_window.kept:
                before = next_window.cost[entry.n]
                if not next_window.fixed(entry):
                    next_window.mask(entry, "its output did not fit")
                if next_window.cost[entry.n] < before:
                    yield True
        for part in (2, 4, 8):
            if parts.digest is not None and parts.digest.lines:
                self._digest(limit - limit // 2 + limit // part // 2)
                yield True
        if next_window.drop(self._opened):
            self._digest(limit)
            yield True
        if parts.digest is not None or parts.summary:
            parts.digest, parts.summary, parts.detail = None, "", {}
            self._insert()
            yield True

    # The outcome

    def _fixed_parts(self) -> list[tuple[str, int]]:
        view, pins = self._view, self._view.pinned
        rows = [("instructions and tools", view.correct_request(view.context_tokens))]
        if pins:
            name = named(dict.fromkeys(e.pin for e in pins if e.pin is not None))
            rows.append((f"pins ({name})", view.correct_items(sum(e.tokens for e in pins))))
        kept = [e for e in view.entries if e.n in self._options.keep and e.pin is None]
        if kept:
            rows.append(("what you keep", view.correct_items(sum(e.tokens for e in kept))))
        request = view.latest_request
        if request is not None and request.pin is None and request not in kept:
            tokens = self._next_window.cost.get(request.n, request.tokens)
            rows.append(("your latest request", view.correct_items(tokens)))
        if self._options.text is not None:
            rows.append(("the text to insert", view.correct_items(self._next_window.inserted_cost)))
        elif core := core_text(view):
            rows.append(("the protected core", view.correct_items(view.count(core))))
        return rows

    def _impossible(self) -> Impossible:
        reserve = ("room for the reply", self._view.reserve)
        return Impossible([*self._fixed_parts(), reserve], self._view.context_window)

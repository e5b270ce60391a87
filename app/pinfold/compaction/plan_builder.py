"""Builds a plan: verdicts on items, insertions, and the resulting sizes."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from pinfold.compaction.plan import CompactionPlan, Planned, Verdict
from pinfold.compaction.refusals import BadPlan
from pinfold.compaction.rendering import measure
from pinfold.compaction.view import WindowEntry, WindowView
from pinfold.rollout.items import Form, Item

STAYS: frozenset[Verdict] = frozenset({"keep", "pin", "shorten", "mask", "fold"})
"""Verdicts that keep an item in the next window in some form."""


class PlanBuilder:
    """Takes verdicts and builds a plan of them; items without another verdict stay as they are.

    Strategies fill one themselves, or choose what stays in a `NextWindow`, which makes one.
    """

    def __init__(self, view: WindowView, planned: Mapping[int, Planned] | None = None) -> None:
        """`planned` has the default verdict of every item, in order."""
        self.view = view
        self.notes: list[str] = []
        self.first: Item | None = None
        """Inserted before all else."""
        self._planned = dict(_all_kept(view) if planned is None else planned)
        """The verdict on every item of the window, in order."""
        self._replacements: dict[int, Item] = {}
        """New items by the number of the item that each replaces."""

    def put(self, n: int, verdict: Verdict, reason: str) -> None:
        """Set the verdict on item `n`. Raises `BadPlan` where the window has no such item."""
        self._replacements.pop(n, None)
        self._planned[n] = uncounted(self._entry(n), verdict, reason)

    def replace(self, n: int, item: Item, reason: str) -> None:
        """Replace item `n` with a new one. Raises as `put` does."""
        self._planned[n] = uncounted(self._entry(n), "replace", reason)
        self._replacements[n] = item

    def _entry(self, n: int) -> WindowEntry:
        entry = self.view.by_number.get(n)
        if entry is None:
            raise BadPlan([f"the window has no #{n}"])
        return entry

    def build(self, strategy: str, meta: Mapping[str, object] | None = None) -> CompactionPlan:
        """The plan, counted."""
        view = self.view
        window: list[tuple[int, Form]] = []
        inserted: list[Item] = []

        def insert(item: Item) -> None:
            inserted.append(replace(item, n=0))
            window.append((-len(inserted), "full"))

        if self.first is not None:
            insert(self.first)
        for n, planned in self._planned.items():
            if planned.verdict in STAYS:
                window.append((n, form_of(view.by_number[n], planned.verdict)))
            elif n in self._replacements:
                insert(self._replacements[n])
        sizes, counted = measure(view, window, inserted)
        return CompactionPlan(
            strategy=strategy,
            base=view.base,
            items=tuple(self._counted(counted)),
            window=tuple(window),
            inserted=tuple(inserted),
            sizes=sizes,
            notes=tuple(self.notes),
            meta=dict(meta or {}),
        )

    def _counted(self, after: Mapping[int, int]) -> Iterator[Planned]:
        for n, planned in self._planned.items():
            tokens = after.get(n, 0)
            if tokens == planned.after:
                yield planned
            else:
                yield Planned(n, planned.verdict, planned.reason, planned.before, tokens)


def uncounted(entry: WindowEntry, verdict: Verdict, reason: str) -> Planned:
    """A verdict on an item, not counted yet."""
    return Planned(entry.item.n, verdict, reason, entry.tokens, 0)


def _all_kept(view: WindowView) -> dict[int, Planned]:
    return view.once(
        "kept",
        lambda: {
            n: Planned(n, "keep", "", entry.tokens, entry.tokens)
            for n, entry in view.by_number.items()
        },
    )


def form_of(entry: WindowEntry, verdict: Verdict) -> Form:
    """The form in the next window of an item that stays."""
    match verdict:
        case "mask":
            return "masked"
        case "shorten":
            return "short"
        case "fold":
            return "placeholder"
        case _:
            return entry.form

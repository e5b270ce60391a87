"""A plan being made: verdicts on items, insertions, and the resulting sizes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec.structs import replace

from pinfold.compaction.plan import CompactionPlan, Planned, PlanSizes, Verdict
from pinfold.compaction.refusals import BadPlan
from pinfold.compaction.view import WindowEntry, WindowView
from pinfold.rollout.items import Form, Item
from pinfold.window.show import Shown, show, smaller

STAYS: frozenset[Verdict] = frozenset({"keep", "pin", "shorten", "mask", "fold"})
"""Verdicts that keep an item in the next window in some form."""


class WindowDraft:
    """The next window of `view`; items without another verdict stay as they are."""

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

    def plan(self, strategy: str, meta: Mapping[str, object] | None = None) -> CompactionPlan:
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


def tokens_as(entry: WindowEntry, form: Literal["short", "masked"], view: WindowView) -> int:
    """What an item takes in that form; its full size where it has no body to take out."""
    if entry.form == form and entry.sent:
        return entry.tokens

    def count() -> int:
        text = _smaller(entry, form, view)
        if text is None:
            return entry.full
        return view.count_item(replace(entry.item, content=text, images=()))

    return view.once((form, entry.n), count)


def can_mask(entry: WindowEntry, view: WindowView) -> bool:
    """Whether it is a result, or a call with a body."""
    if entry.item.kind != "tool_call":
        return entry.item.kind == "tool_result"
    return _smaller(entry, "masked", view) is not None


def _smaller(entry: WindowEntry, form: Form, view: WindowView) -> str | None:
    partner = view.by_number.get(entry.partner or 0)
    return smaller(entry.item, form, None if partner is None else partner.item)


def measure(
    view: WindowView, window: Iterable[tuple[int, Form]], inserted: Iterable[Item]
) -> tuple[PlanSizes, dict[int, int]]:
    """The sizes of a next window, and the tokens of each of its items by number."""
    counted = {
        shown.stands_for[0]: tokens_of(shown, view) for shown in rendered(view, window, inserted)
    }
    sizes = PlanSizes(
        context=view.correct_request(view.context_tokens),
        before=view.correct_items(view.tokens),
        after=view.correct_items(sum(counted.values())),
        limit=view.context_window,
        reserve=view.reserve,
    )
    return sizes, counted


def rendered(
    view: WindowView, window: Iterable[tuple[int, Form]], inserted: Iterable[Item]
) -> list[Shown]:
    """What a request with that window would carry, in order."""
    window, inserted = tuple(window), tuple(inserted)
    last: tuple[object, object, list[Shown]] | None = view.memo.get("rendered")
    if last is None or last[:2] != (window, inserted):
        last = (window, inserted, list(show(dict(window), _Next(view, inserted))))
        view.memo["rendered"] = last
    return last[2]


def rendered_now(view: WindowView) -> list[Shown]:
    """What the next request would carry without a compaction."""

    def make() -> list[Shown]:
        forms = {n: entry.form for n, entry in view.by_number.items()}
        return list(show(forms, _Next(view, ())))

    return view.once("now", make)


def tokens_of(shown: Shown, view: WindowView) -> int:
    """Counted tokens of an item as a request carries it."""
    entry = view.by_number.get(shown.stands_for[0])
    if entry is None or shown.form == "placeholder":
        return view.count_item(shown.item)
    return entry.full if shown.form == "full" else tokens_as(entry, shown.form, view)


class _Next:
    """The items of a planned window, those to be inserted by -1, -2 ..."""

    def __init__(self, view: WindowView, inserted: Iterable[Item]) -> None:
        self._entries = view.by_number
        self._inserted = {-at: item for at, item in enumerate(inserted, 1)}

    def __getitem__(self, n: int, /) -> Item:
        return self._entries[n].item if n > 0 else self._inserted[n]

    def partner(self, n: int, /) -> int | None:
        return self._entries[n].partner if n > 0 else None

    def files(self, n: int, /) -> tuple[str, ...]:
        return self._entries[n].files if n > 0 else ()

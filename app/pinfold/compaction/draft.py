"""A plan in the making: verdicts on items, what is inserted, and what both come to."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from pinfold.compaction.plan import CompactionPlan, Planned, Sizes, Verdict
from pinfold.compaction.view import Entry, WindowView
from pinfold.rollout.items import Form, Item
from pinfold.window.placeholders import masked
from pinfold.window.show import Shown, show


class Draft:
    """The next window of `view`; where nothing else is said, an item stays as it is."""

    def __init__(self, view: WindowView) -> None:
        self.view = view
        self.notes: list[str] = []
        self.first: Item | None = None
        """Inserted before all else."""
        self._verdicts: dict[int, tuple[Verdict, str]] = {}
        self._instead: dict[int, Item] = {}
        """New items, each by the number of the one whose place it takes."""

    def put(self, n: int, verdict: Verdict, reason: str) -> None:
        """Say what becomes of item `n`."""
        self._instead.pop(n, None)
        self._verdicts[n] = (verdict, reason)

    def replace(self, n: int, item: Item, reason: str) -> None:
        """Let a new item take the place of item `n`."""
        self._verdicts[n] = ("replace", reason)
        self._instead[n] = item

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
        for entry in view.entries:
            n = entry.item.n
            form = form_of(entry, self._verdicts.get(n, ("keep", ""))[0])
            if n in self._instead:
                insert(self._instead[n])
            elif form is not None:
                window.append((n, form))
        sizes, each = measure(view, window, inserted)
        return CompactionPlan(
            strategy=strategy,
            base=view.base,
            items=tuple(self._planned(entry, each) for entry in view.entries),
            window=tuple(window),
            inserted=tuple(inserted),
            sizes=sizes,
            notes=tuple(self.notes),
            meta=dict(meta or {}),
        )

    def _planned(self, entry: Entry, after: Mapping[int, int]) -> Planned:
        n = entry.item.n
        verdict, reason = self._verdicts.get(n, ("keep", ""))
        return Planned(n, verdict, reason, entry.tokens, after.get(n, 0))


def form_of(entry: Entry, verdict: Verdict) -> Form | None:
    """How an item stands in the next window after such a verdict; None where it doesn't."""
    match verdict:
        case "keep" | "pin":
            return entry.form
        case "mask":
            return "masked"
        case "fold":
            return "placeholder"
        case "archive" | "replace":
            return None


def masked_tokens(entry: Entry, view: WindowView) -> int:
    """What a result takes once it is masked."""
    if entry.form == "masked" and entry.sent:
        return entry.tokens
    key = ("masked", entry.item.n)
    if key not in view.known:
        left = replace(entry.item, content=masked(entry.item), images=())
        view.known[key] = view.count_item(left)
    return int(view.known[key])


def measure(
    view: WindowView, window: Iterable[tuple[int, Form]], inserted: Iterable[Item]
) -> tuple[Sizes, dict[int, int]]:
    """What a next window comes to, and the counted tokens of each number in it."""
    counted = {
        shown.stands_for[0]: tokens_of(shown, view) for shown in rendered(view, window, inserted)
    }
    sizes = Sizes(
        context=view.correct(view.context_tokens),
        before=view.corrected(view.tokens),
        after=view.corrected(sum(counted.values())),
        limit=view.context_window,
        reserve=view.reserve,
    )
    return sizes, counted


def rendered(
    view: WindowView, window: Iterable[tuple[int, Form]], inserted: Iterable[Item]
) -> list[Shown]:
    """What a request with that window would carry."""
    window, inserted = tuple(window), tuple(inserted)
    last: tuple[object, object, list[Shown]] | None = view.known.get("rendered")
    if last is None or last[:2] != (window, inserted):
        last = (window, inserted, list(show(dict(window), _Next(view, inserted))))
        view.known["rendered"] = last
    return last[2]


def rendered_now(view: WindowView) -> list[Shown]:
    """What the next request would carry without a compaction."""
    return rendered(view, ((entry.item.n, entry.form) for entry in view.entries), ())


def tokens_of(shown: Shown, view: WindowView) -> int:
    """Counted tokens of an item as a request carries it."""
    entry = view.by_number.get(shown.stands_for[0])
    if entry is None or shown.form == "placeholder":
        return view.count_item(shown.item)
    return entry.full if shown.form == "full" else masked_tokens(entry, view)


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

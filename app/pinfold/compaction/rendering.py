"""What a request would carry of a window, now or as planned, and how many tokens that takes."""

from collections.abc import Iterable
from typing import Literal

from msgspec.structs import replace

from pinfold.compaction.plan import PlanSizes
from pinfold.compaction.view import WindowEntry, WindowView
from pinfold.rollout.items import Form, Item
from pinfold.window.show import Shown, show, smaller


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

"""Lost texts, grouped by item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pinfold.commands.context_text import KINDS
from pinfold.compaction.loss import LostLine
from pinfold.numbers import tokens
from pinfold.rollout.items import Item
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from pinfold.agent.steering.steering import Steering

_WORDS = 60
"""Characters of a lost text in a sentence."""


def by_item(lost: Iterable[LostLine]) -> dict[int, list[LostLine]]:
    """Losses by item, in the order of each item's first loss."""
    found: dict[int, list[LostLine]] = {}
    for loss in lost:
        found.setdefault(loss.item, []).append(loss)
    return found


def abouts(window: Steering, lost: Iterable[LostLine]) -> dict[int, str]:
    """Descriptions of the items, by number. Counts tokens, so not on the event loop."""
    items = (window.item(loss.item) for loss in lost)
    return {item.n: about(item, window.count(item.content)) for item in items if item is not None}


def about(item: Item, size: int) -> str:
    """`your message, 300 lines, 4.8k tokens`; `size` is in tokens."""
    what = "your message" if item.kind == "user" else KINDS[item.kind]
    named = f"{what} {one_line(item.name or '')}".strip()
    lines = item.content.count("\n") + 1
    said = f", {lines:,} lines" if lines > 1 else ""
    return f"{named}{said}, {tokens(size)} token{'' if size == 1 else 's'}"


def listed(lost: Iterable[LostLine], items: Mapping[int, str]) -> str:
    """`#12 your message, 300 lines, 4.8k tokens: number 101, 200`; `items` are descriptions."""
    groups = by_item(lost).items()
    return "; ".join(f"#{n} {items[n]}: {', '.join(_values(some))}" for n, some in groups)


def _values(some: Iterable[LostLine]) -> Iterable[str]:
    """The texts; a kind is named once."""
    last = ""
    for loss in some:
        text = one_line(loss.text)[:_WORDS]
        yield text if loss.kind == last else f"{loss.kind} {text}"
        last = loss.kind

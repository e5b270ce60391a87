"""Items of a window as plain text, for a model that is to write about them."""

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from pinfold.compaction.content import without_data
from pinfold.compaction.view import WindowEntry, WindowView
from pinfold.rollout import provenance
from pinfold.rollout.items import Item, Kind
from pinfold.window.refused import Refused

_LABELS: dict[Kind, str] = {
    "user": "user",
    "assistant": "assistant",
    "reasoning": "thought",
    "tool_call": "call",
    "tool_result": "result",
    "checkpoint": "checkpoint",
    "summary": "summary",
    "compaction": "compaction",
    "context": "instructions",
}
GOAL = "THE USER'S GOAL"
FOCUS = "THE USER ASKS YOU TO LOOK AT THIS ABOVE ALL"
STANDING = "ENTRIES SO FAR"
RECORD = "THE RECORD"
END = "[END OF THE RECORD]"
PASTED, PASTED_END = "[PASTED, NOT SAID BY THE USER]", "[END OF WHAT WAS PASTED]"
"""Heads of what a model reads; no line of an item begins with one."""
_BREAK = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Ends a line for one reader or another."""
_HEADS = "|".join(re.escape(head) for head in (GOAL, FOCUS, STANDING, RECORD, END))
_IMITATED = re.compile(rf"^(?=#\d+\s|{_HEADS})", re.MULTILINE)
_LEAST = 16
"""Characters of a part, however little room there is."""


def lines(entries: Iterable[WindowEntry]) -> Iterator[str]:
    """One text for each item that says anything, in order; pictures and base64 are named only."""
    for entry in entries:
        body = _body(entry.item)
        if body:
            yield _head(entry.item) + body


def told(item: Item) -> Item:
    """The item with marks around what the user pasted."""
    text = provenance.marked(item, PASTED, PASTED_END)
    if text == item.content:
        return item
    return replace(item, content=text, detail={**item.detail, "pasted": []})


def check_readable(view: WindowView) -> None:
    """Raises `Refused` if the window has an item that can't be read as text."""
    if any(entry.sent for entry in view.of_kind("compaction")):
        raise Refused("the window holds a compaction that only its provider can read")


def parts_of(entry: WindowEntry, most: int, count: Callable[[str], int]) -> list[str]:
    """The text of one item in parts of at most `most` tokens, which leave nothing out."""
    body = _body(entry.item)
    if not body:
        return []
    whole = _head(entry.item) + body
    if count(whole) <= most:
        return [whole]
    cuts: list[str] = []
    rest = body
    while rest:
        cut = _longest(rest, most - count(_head(entry.item, "part 999 of 999")), count)
        cuts.append(rest[:cut])
        rest = rest[cut:]
    heads = (_head(entry.item, f"part {at} of {len(cuts)}") for at in range(1, len(cuts) + 1))
    return [head + cut for head, cut in zip(heads, cuts, strict=True)]


def _head(item: Item, part: str = "") -> str:
    label = _LABELS[item.kind]
    if item.name and item.kind == "tool_call":
        label = f"{label} {item.name}"
    told = [part] if part else []
    if item.detail.get("ok") is False:
        told.append("failed")
    if item.state != "complete":
        told.append(item.state)
    return f"#{item.n} {label}{' (' + ', '.join(told) + ')' if told else ''}: "


def _body(item: Item) -> str:
    """Its text; no line of it begins as an item or a head does."""
    return _IMITATED.sub(" ", _BREAK.sub("\n", without_data(told(item))).strip())


def _longest(text: str, most: int, count: Callable[[str], int]) -> int:
    """Characters of the beginning that fits, up to the end of a line where there is one."""
    least = min(_LEAST, len(text))
    cut = len(text)
    while cut > least and (tokens := count(text[:cut])) > most:
        cut = max(least, min(cut * 9 // 10, int(cut * max(most, 1) / tokens)))
    if cut < len(text):
        line = text.rfind("\n", cut // 2, cut)
        cut = line + 1 if line > 0 else cut
    return cut

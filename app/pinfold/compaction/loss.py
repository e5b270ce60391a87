"""What the window says now and would no longer say anywhere."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from pinfold.checkpoint.ledger_names import NameKind, call_texts, is_file, names
from pinfold.compaction.draft import rendered, rendered_now
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.view import WindowView
from pinfold.rollout.items import Item, Kind
from pinfold.window.titles import title_of

LostKind = Literal["decision", "file", "command", "url", "number", "identifier"]

MAX_NAMED = 12
"""Of each kind; of the rest only how many there are."""
_ORDER: tuple[LostKind, ...] = ("decision", "file", "command", "url", "number", "identifier")
_NUMBER = re.compile(r"(?<![\w.#/-])\d[\d.,_:]*\d(?: ?(?:%|ms|s|[KMGk]i?B|tokens))?(?![\w/-])")
_WEIGHTS: dict[Kind, int] = {"user": 8, "tool_call": 4, "assistant": 3}
"""By what says it; all else counts once."""
_KINDS: dict[NameKind, LostKind] = {
    "path": "file",
    "url": "url",
    "hash": "identifier",
    "issue": "identifier",
    "identifier": "identifier",
}


class Lost(Struct, frozen=True):
    kind: LostKind
    text: str
    item: int
    """The last item of the old window that says it."""


class Loss(Struct, frozen=True):
    """The most telling first; all of it stays in the archive."""

    named: tuple[Lost, ...]
    more: dict[LostKind, int]
    """How many are not named."""

    def __bool__(self) -> bool:
        return bool(self.named)


def loss_of(view: WindowView, plan: CompactionPlan) -> Loss:
    """What stands nowhere in the request that follows. It reads all text: some 0.3 s a megabyte."""
    new = [shown.item for shown in rendered(view, plan.window, plan.inserted)]
    gone = {each.n for each in plan.items if each.verdict not in ("keep", "pin")}
    old = [each.item for each in rendered_now(view) if gone & set(each.stands_for)]
    text = "\n".join(item.content for item in new)
    kept = {said for item in new for said in _said(item, view.cwd)}
    kept.update(("file", path) for path in _ledger_paths(text))
    weights: dict[tuple[LostKind, str], tuple[int, int]] = {}
    for item in old:
        for said in _said(item, view.cwd):
            if said not in kept:
                weight, _ = weights.get(said, (0, 0))
                weights[said] = (weight + _WEIGHTS.get(item.kind, 1), item.n)
    for decision, n in _decisions(view, gone):
        if decision not in text:
            weights["decision", decision] = (1, n)
    return _ranked(weights)


def _ranked(weights: dict[tuple[LostKind, str], tuple[int, int]]) -> Loss:
    named: list[Lost] = []
    more: dict[LostKind, int] = {}
    for kind in _ORDER:
        some = [(said, *weights[said]) for said in weights if said[0] == kind]
        some.sort(key=lambda each: (-each[1], -each[2], each[0]))
        named += [Lost(kind, said[1], n) for said, _, n in some[:MAX_NAMED]]
        if len(some) > MAX_NAMED:
            more[kind] = len(some) - MAX_NAMED
    return Loss(tuple(named), more)


def _said(item: Item, cwd: str) -> Iterator[tuple[LostKind, str]]:
    """Names, commands and numbers in an item."""
    text = "\n".join(call_texts(item)) if item.kind == "tool_call" else item.content
    for name in names(text, cwd):
        kind = _KINDS[name.kind]
        if kind != "file" or is_file(name.text):
            yield kind, name.text
    if item.kind == "tool_call":
        title = title_of(item.content)
        if title.startswith("$ "):
            yield "command", title[2:]
    elif item.kind in ("user", "assistant"):
        for match in _NUMBER.finditer(text):
            yield "number", match[0]


def _decisions(view: WindowView, gone: set[int]) -> Iterator[tuple[str, int]]:
    """What was decided or laid down in items that go."""
    for each in view.ledger.commitments():
        if each.item in gone:
            yield each.text, each.item
    for decision in view.checkpoint.decisions:
        ref = decision.evidence.ref.removeprefix("#")
        n = int(ref) if ref.isdigit() else 0
        if n in gone:
            yield decision.decision, n


def _ledger_paths(text: str) -> Iterator[str]:
    """The paths in a ledger, whose folders stand above them."""
    folder = ""
    for line in text.splitlines():
        if line.endswith("/") and not line.startswith("- "):
            folder = "" if line == "./" else line
        elif line.startswith("- "):
            told, _, rest = line[2:].partition(": ")
            listed: Iterable[str] = rest.split(", ") if told == "seen" else [told]
            yield from (folder + name for name in listed)
        else:
            folder = ""

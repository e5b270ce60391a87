"""What a compaction loses: digest lines that are nowhere in the next window."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct

from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.rendering import rendered, rendered_now
from pinfold.compaction.summary import entries_of
from pinfold.compaction.view import WindowView
from pinfold.digests.lines import WEIGHT, DigestLine
from pinfold.digests.lines import Kind as Said
from pinfold.rollout.items import Form, Item, Kind
from pinfold.window.archive import Archive
from pinfold.window.forms import unpack
from pinfold.window.generations import change_to, forms_of
from pinfold.window.refused import NothingToDo
from pinfold.window.show import Shown, show
from pinfold.window.window import Window

LostKind = Literal[
    "your words", "decision", "failure", "commit", "edit", "reply", "report", "command", "paste"
]

MAX_NAMED = 12
"""Of each kind; of the rest only how many there are."""
_ORDER: tuple[LostKind, ...] = get_args(LostKind)
_KINDS: dict[Said, LostKind] = {
    "user": "your words",
    "pasted": "paste",
    "report": "reply",
    "agent": "reply",
    "child": "report",
    "commit": "commit",
    "edit": "edit",
    "failed": "failure",
    "run": "command",
}
"""Lines of code and output don't count: their items stay in the archive."""


_LASTING: frozenset[Kind] = frozenset({"user", "assistant", "tool_call", "tool_result"})


class LostLine(Struct, frozen=True):
    kind: LostKind
    text: str
    item: int
    """The item that says it."""
    key: str = ""
    """Of its line in the digest; empty where it is of a summary."""


class Loss(Struct, frozen=True):
    """The most telling first; all of it stays in the archive."""

    named: tuple[LostLine, ...]
    more: dict[LostKind, int]
    """How many are not named."""
    items: int = 0
    """Items that the first window has in full and the second has not."""

    def __bool__(self) -> bool:
        return bool(self.named)

    @property
    def without_lines(self) -> str:
        """A sentence on a loss that names no line."""
        said = "No message, edit or command is missing from the new window"
        if not self.items:
            return f"{said}."
        are = "items are" if self.items > 1 else "item is"
        return f"{said}; {self.items:,} {are} no longer there in full, but in the archive."


def loss_of(view: WindowView, plan: CompactionPlan) -> Loss:
    """What the next request no longer says. Reads all text: some 0.1 s a megabyte."""
    new = rendered(view, plan.window, plan.inserted)
    return _loss(view.known.record.lines(), rendered_now(view), new)


def forms_around(window: Window, generation: int) -> tuple[dict[int, Form], dict[int, Form]]:
    """The forms of the items before the change that made that window, and in it: at its end, or
    now. Raises `Refused`."""
    change = change_to(window, generation)
    if change is None:
        raise NothingToDo(f"No change has made a window {generation}: nothing was lost.")
    return unpack(change.before), forms_of(window, generation)


def loss_between(
    before: Mapping[int, Form],
    after: Mapping[int, Form],
    archive: Archive,
    lines: Sequence[DigestLine],
) -> Loss:
    """What the first window said and the second does not. As slow as `loss_of`."""
    return _loss(lines, show(before, archive), show(after, archive))


def _loss(lines: Sequence[DigestLine], before: Iterable[Shown], after: Iterable[Shown]) -> Loss:
    old, new = list(before), list(after)
    stood, stands = _whole(old), _whole(new)
    earlier = _inserted(old)
    text = "\n".join(entry.item.content for entry in new)
    found: dict[LostKind, list[tuple[int, LostLine]]] = {}
    for line in lines:
        kind = _KINDS.get(line.kind)
        told = line.n in stood or line.text in earlier
        if kind is not None and told and line.n not in stands and line.text not in text:
            weight = line.told * WEIGHT[line.kind]
            found.setdefault(kind, []).append((weight, LostLine(kind, line.text, line.n, line.key)))
    for lost in _entries(old, text):
        found.setdefault("decision", []).append((0, lost))
    left = [entry for entry in old if entry.item.kind in _LASTING and entry.form == "full"]
    return _ranked(found, sum(entry.stands_for[0] not in stands for entry in left))


def _whole(shown: Iterable[Shown]) -> set[int]:
    return {entry.stands_for[0] for entry in shown if entry.form == "full"}


def _inserted(shown: Iterable[Shown]) -> str:
    some = (entry.item for entry in shown if entry.item.kind in ("checkpoint", "summary"))
    return "\n".join(item.content for item in some)


def _entries(old: Iterable[Shown], text: str) -> Iterator[LostLine]:
    """Entries of a model's summary that the next window does not have."""
    for shown in old:
        item: Item = shown.item
        for entry in entries_of(item):
            said = entry.value.get("text", "")
            if said and said not in text:
                yield LostLine("decision", said, item.n)


def _ranked(found: dict[LostKind, list[tuple[int, LostLine]]], items: int) -> Loss:
    named: list[LostLine] = []
    more: dict[LostKind, int] = {}
    for kind in _ORDER:
        some = sorted(found.get(kind, ()), key=lambda pair: (-pair[0], -pair[1].item))
        named += [lost for _, lost in some[:MAX_NAMED]]
        if left := len(some[MAX_NAMED:]):
            more[kind] = left
    return Loss(tuple(named), more, items)

"""What the window says now and would no longer say anywhere."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from msgspec import Struct

from pinfold.checkpoint.anchors import number
from pinfold.checkpoint.commitments import Commitment
from pinfold.checkpoint.ledger_names import NameKind, call_texts, is_file, names
from pinfold.checkpoint.ledger_told import paths_told
from pinfold.checkpoint.model import CheckpointV1
from pinfold.compaction.draft import rendered, rendered_now
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.summary import Field, entries_of
from pinfold.compaction.view import WindowView
from pinfold.rollout.items import Form, Item, Kind
from pinfold.window.archive import Archive
from pinfold.window.forms import unpack
from pinfold.window.generations import forms_of
from pinfold.window.refused import Refused
from pinfold.window.show import Shown, show
from pinfold.window.titles import title_of
from pinfold.window.window import Window

LostKind = Literal["decision", "task", "failure", "file", "command", "url", "number", "identifier"]

MAX_NAMED = 12
"""Of each kind; of the rest only how many there are."""
_ORDER: tuple[LostKind, ...] = get_args(LostKind)
_MANY, _LISTED = 5, 20
"""Names from which on they are one line: that differ by their digits; that one result lists."""
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


_OURS: frozenset[Kind] = frozenset(["checkpoint", "summary", "compaction", "context"])
"""What the host or a provider wrote: its own words are no loss. What a user ran has a name."""
_DIGITS = re.compile(r"\d+")
_ENTRIES: dict[Field, LostKind] = {
    "decisions": "decision",
    "constraints": "decision",
    "task": "task",
    "todo": "task",
    "open_questions": "task",
    "known_failures": "failure",
}
"""What of a summary is a loss where it leaves; names and files are found by themselves."""


class Lost(Struct, frozen=True):
    kind: LostKind
    text: str
    item: int
    """The last item of the old window that says it."""
    count: int = 1
    """How many names it stands for."""


_Said = tuple[LostKind, str]


class Loss(Struct, frozen=True):
    """The most telling first; all of it stays in the archive."""

    named: tuple[Lost, ...]
    more: dict[LostKind, int]
    """How many are not named."""

    def __bool__(self) -> bool:
        return bool(self.named)


def loss_of(view: WindowView, plan: CompactionPlan) -> Loss:
    """What stands nowhere in the request that follows. It reads all text: some 0.3 s a megabyte."""
    gone = {each.n for each in plan.items if each.verdict not in ("keep", "pin")}
    decisions = _decisions(view.ledger.commitments(), view.checkpoint)
    new = rendered(view, plan.window, plan.inserted)
    return _loss(rendered_now(view), new, gone, decisions, view.cwd)


class Change(Struct, frozen=True):
    """Two windows of which one took the other's place."""

    before: dict[int, Form]
    after: dict[int, Form]


def change_at(window: Window, generation: int) -> Change:
    """What made that window; its own end counts, or how it stands now. Raises `Refused`."""
    made = next((each for each in window.boundaries if each.generation == generation), None)
    if made is None:
        raise Refused(f"No change has made a window {generation}: it has lost nothing.")
    return Change(unpack(made.before), forms_of(window, generation))


def loss_by(
    change: Change,
    archive: Archive,
    commitments: Iterable[Commitment],
    checkpoint: CheckpointV1,
    cwd: str,
) -> Loss:
    """What stood in the window before and stands nowhere in the one after. As slow as `loss_of`."""
    before, after = change.before, change.after
    gone = {n for n, form in before.items() if form != after.get(n)}
    decisions = _decisions(commitments, checkpoint)
    return _loss(show(before, archive), show(after, archive), gone, decisions, cwd)


def _loss(
    before: Iterable[Shown],
    after: Iterable[Shown],
    gone: set[int],
    decisions: Iterable[tuple[str, int]],
    cwd: str,
) -> Loss:
    before = list(before)
    old = [
        each.item for each in before if each.form != "placeholder" and gone & set(each.stands_for)
    ]
    new = [each.item for each in after]
    text = "\n".join(item.content for item in new)
    kept = {said for item in new for said in _said(item, cwd)}
    kept.update(("file", path) for path in paths_told(text))
    kept.update(("number", match[0]) for match in _NUMBER.finditer(text))
    numbered = max((n for each in before for n in each.stands_for), default=0)
    weights: dict[_Said, tuple[int, int]] = {}
    for item in old:
        for said in () if item.kind in _OURS and item.name is None else _said(item, cwd):
            if said in kept or (said[0] == "command" and said[1] in text):
                continue
            if not _names_item(said[1], numbered):
                weight, _ = weights.get(said, (0, 0))
                weights[said] = (weight + _WEIGHTS.get(item.kind, 1), item.n)
    for item in old:
        for said in _entries(item, new):
            if said[1] not in text:
                weights[said] = (1, item.n)
    for decision, n in decisions:
        if n in gone and decision not in text:
            weights["decision", decision] = (1, n)
    return _ranked(weights)


def _names_item(name: str, last: int) -> bool:
    """Whether it is the number of an item of this session: the archive has that for ever."""
    return name[0] == "#" and name[1:].isdecimal() and int(name[1:]) <= last


def _entries(item: Item, new: Iterable[Item]) -> Iterator[_Said]:
    """What a summary that a model wrote says, and no summary of the next window."""
    found = [each for each in entries_of(item) if each.field in _ENTRIES]
    stays = {each.id for other in new for each in entries_of(other)} if found else set()
    for each in found:
        if each.id not in stays:
            yield _ENTRIES[each.field], each.value["text"]


def _ranked(weights: dict[_Said, tuple[int, int]]) -> Loss:
    named: list[Lost] = []
    more: dict[LostKind, int] = {}
    for kind in _ORDER:
        some = [(said[1], *weights[said]) for said in weights if said[0] == kind]
        some.sort(key=lambda each: (-each[1], -each[2], each[0]))
        lines = _folded(kind, some)
        named += lines[:MAX_NAMED]
        if left := sum(each.count for each in lines[MAX_NAMED:]):
            more[kind] = left
    return Loss(tuple(named), more)


def _folded(kind: LostKind, names: Iterable[tuple[str, int, int]]) -> list[Lost]:
    """A line for each name, its weight and item given, and one for a run of like ones."""
    runs: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
    for name, weight, n in names:
        like, listing = name, 0
        if kind in ("file", "identifier"):
            like = _DIGITS.sub("#", name)
            listing = n if like == name and weight == 1 else 0
        runs["" if listing else like, listing].append((name, n))
    lines: list[Lost] = []
    for (_, listing), run in runs.items():
        if len(run) < (_LISTED if listing else _MANY):
            lines += [Lost(kind, name, n) for name, n in run]
        else:
            some = sorted((name for name, _ in run), key=_by_number)
            said = f"{len(run):,} names: {some[0]} … {some[-1]}"
            lines.append(Lost(kind, said, max(n for _, n in run), len(run)))
    return lines


def _by_number(name: str) -> str:
    return _DIGITS.sub(lambda digits: digits[0].zfill(12), name)


def _said(item: Item, cwd: str) -> Iterator[_Said]:
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


def _decisions(
    commitments: Iterable[Commitment], checkpoint: CheckpointV1
) -> Iterator[tuple[str, int]]:
    """What was decided or laid down, and in which item."""
    for each in commitments:
        yield each.text, each.item
    for decision in checkpoint.decisions:
        yield decision.decision, number(decision.evidence.ref)

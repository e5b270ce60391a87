"""`summary_v1`, the JSON snapshot that a model writes (seeds/compact-roadmap, section 4).

Its entries carry an id and their evidence here; `session.json` is the seed's bare form.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from pinfold.rollout.items import Item

Field = Literal[
    "task",
    "decisions",
    "constraints",
    "open_questions",
    "todo",
    "files_in_scope",
    "symbols",
    "assumptions",
    "known_failures",
]

FIELDS: tuple[Field, ...] = get_args(Field)
_KEYS: dict[Field, tuple[str, ...]] = {
    "files_in_scope": ("path", "why"),
    "symbols": ("name", "file", "role"),
}
"""Of an entry's value; of all others it is `text`."""
_LAST: tuple[Field, ...] = ("decisions", "constraints", "task")
"""Dropped last, and in this order."""


_MARK = re.compile(r" ?[(;] ?unconfirmed: [^()\n]*(?:\)|$)")


class ItemQuote(Struct, frozen=True):
    """Where an entry was found."""

    item: int
    quote: str
    by: str = ""
    """The tool that said it; empty where the user or the agent did."""


class SummaryEntry(Struct, frozen=True):
    """One thing that a summary says."""

    id: str
    """The same from one summary to the next, as long as the entry is kept."""
    field: Field
    value: dict[str, str]
    """`{"text": ...}`, or the seed's own keys: path and why; name, file and role."""
    evidence: tuple[ItemQuote, ...] = ()
    unsupported: str = ""
    """Why no item confirms it; empty where one does."""
    unconfirmed: tuple[str, ...] = ()
    """Its names and numbers that are not in the items that it cites."""


def keys_of(name: Field) -> tuple[str, ...]:
    """The keys of such an entry's value."""
    return _KEYS.get(name, ("text",))


def bare(entries: Iterable[SummaryEntry], env: Mapping[str, str]) -> dict[str, Any]:
    """The seed's form, without `last_compact_at`. `env` is the host's."""
    found: dict[str, Any] = {name: [] for name in FIELDS}
    found["task"] = ""
    for entry in entries:
        told = _marked(entry)
        value: Any = told if entry.field in _KEYS else told["text"]
        if entry.field == "task":
            found["task"] = value
        else:
            found[entry.field].append(value)
    return {**found, "env": dict(env)}


def to_detail(entries: Iterable[SummaryEntry]) -> dict[str, Any]:
    """The detail of the inserted item, which the model does not see."""
    # As the journal gives it back: lists, no tuples.
    return {"entries": msgspec.json.decode(msgspec.json.encode(tuple(entries)))}


def entries_of(item: Item) -> tuple[SummaryEntry, ...]:
    """The entries of an inserted summary; none if it was not written as `summary_v1`."""
    try:
        found = msgspec.convert(item.detail.get("entries", ()), tuple[SummaryEntry, ...])
    except msgspec.ValidationError:
        return ()
    return found if all(set(entry.value) == set(keys_of(entry.field)) for entry in found) else ()


def line_of(entry: SummaryEntry) -> str:
    """An entry on one line with the items that confirm it, or after the tools if only they say
    it."""
    value = entry.value
    match entry.field:
        case "files_in_scope":
            said = _joined(value["path"], value["why"])
        case "symbols":
            where = f"{value['name']} in {value['file']}" if value["file"] else value["name"]
            said = _joined(where, value["role"])
        case _:
            said = value["text"]
    mark = unconfirmed(entry.unconfirmed)
    tools = dict.fromkeys(f"{source.by} #{source.item}" for source in entry.evidence if source.by)
    if tools and all(source.by for source in entry.evidence):
        return f"said by {', '.join(tools)}: {said}{f' ({mark})' if mark else ''}"
    items = ", ".join(dict.fromkeys(f"#{source.item}" for source in entry.evidence))
    known = "; ".join(filter(None, (items, mark)))
    return f"{said} ({known})" if known else said


def unconfirmed(names: Sequence[str]) -> str:
    """The mark of a text with names and numbers that are in no item; empty without any."""
    return f"unconfirmed: {', '.join(names)}" if names else ""


def unmarked(text: str) -> str:
    """The text without such marks, which a model may copy."""
    return _MARK.sub("", text)


def text_of(entries: Sequence[SummaryEntry], *, ids: bool = False) -> str:
    """The entries under the names of their fields.

    As many tokens as compact JSON, but no character of a value is escaped, a line is one entry, and
    each names its items.
    """
    lines: list[str] = []
    for name in FIELDS:
        some = [_listed(entry, ids=ids) for entry in entries if entry.field == name]
        if some:
            lines += [f"{name}:", *some]
    return "\n".join(lines)


def within(
    entries: Sequence[SummaryEntry], budget: int, count: Callable[[str], int]
) -> tuple[SummaryEntry, ...]:
    """The entries whose text, with ids, fits. The oldest are dropped first, the task last of
    all."""
    rank = {name: at for at, name in enumerate(_LAST, 1)}
    order = sorted(entries, key=lambda entry: (rank.get(entry.field, 0), _newest(entry)))
    costs = {entry.id: count(_listed(entry, ids=True)) + 1 for entry in entries}
    heads = sum(count(f"{name}:") + 1 for name in {entry.field for entry in entries})
    over = sum(costs.values()) + heads - budget
    gone: set[str] = set()
    for entry in order:
        if over <= 0:
            break
        gone.add(entry.id)
        over -= costs[entry.id]
    return tuple(entry for entry in entries if entry.id not in gone)


def _listed(entry: SummaryEntry, *, ids: bool) -> str:
    return f"- [{entry.id}] {line_of(entry)}" if ids else f"- {line_of(entry)}"


def _marked(entry: SummaryEntry) -> dict[str, str]:
    last = keys_of(entry.field)[-1]
    mark = unconfirmed(entry.unconfirmed)
    return {**entry.value, last: f"{entry.value[last]} ({mark})"} if mark else dict(entry.value)


def _joined(what: str, more: str) -> str:
    return f"{what}: {more}" if more else what


def _newest(entry: SummaryEntry) -> int:
    return max((source.item for source in entry.evidence), default=0)

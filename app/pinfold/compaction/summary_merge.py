"""Merges a new answer into the earlier entries: what did not change is kept as it was."""

from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pinfold.compaction.claims import ClaimSources
from pinfold.compaction.summary import SummaryEntry, line_of

if TYPE_CHECKING:
    from pinfold.compaction.summary_schema import SummaryV1


def merge(
    standing: Sequence[SummaryEntry], answer: "SummaryV1", sources: ClaimSources
) -> tuple[SummaryEntry, ...]:
    """The entries after the answer, in the order of their first mention.

    An entry that the answer names by id, path or symbol takes the new wording; one listed as gone
    is removed. Both need words that somebody said.
    """
    entries = {entry.id: entry for entry in standing}
    for told in answer.entries():
        new = sources.check(told)
        old = next((entry for entry in entries.values() if _same(entry, new)), None)
        if old is not None and _may_replace(new, old):
            if old.unsupported or old.unconfirmed or old.value != new.value:
                entries[old.id] = replace(new, id=old.id)
        elif old is None or old.value != new.value:
            fresh = _id(new, entries)
            entries[fresh] = replace(new, id=fresh)
    for known in _removed_ids(standing, answer, sources):
        entries.pop(known, None)
    return tuple(entries.values())


def _may_replace(new: SummaryEntry, old: SummaryEntry) -> bool:
    """Not if nobody said the new one, nor if it has unconfirmed names and the old one had none."""
    return not new.unsupported and (not new.unconfirmed or bool(old.unconfirmed or old.unsupported))


def _same(old: SummaryEntry, new: SummaryEntry) -> bool:
    """Whether the new one is about what the old one says."""
    if old.field != new.field:
        return False
    match old.field:
        case "task":
            named = not old.unsupported
        case "files_in_scope":
            named = old.value["path"] == new.value["path"]
        case "symbols":
            keys = ("name", "file")
            named = all(old.value[key] == new.value[key] for key in keys)
        case _:
            named = old.value == new.value
    return named or old.id == new.id


def _id(entry: SummaryEntry, taken: Collection[str]) -> str:
    """A new id, which a model's own numbering does not hit."""
    said = f"{entry.field} {line_of(replace(entry, evidence=(), unconfirmed=()))}"
    digest = blake2b(said.encode(errors="surrogatepass")).hexdigest()
    size = 5
    while digest[:size] in taken and size < len(digest):
        size += 1
    return digest[:size]


def _removed_ids(
    standing: Sequence[SummaryEntry], answer: "SummaryV1", sources: ClaimSources
) -> Iterator[str]:
    fields = {entry.id: entry.field for entry in standing}
    for entry in answer.gone:
        evidence = sources.found(entry.quoted())
        if entry.id in fields and evidence and sources.may_order(fields[entry.id], evidence):
            yield entry.id

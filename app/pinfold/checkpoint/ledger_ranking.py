"""What of the ledger comes first: the worth of its entries for the tokens that they take."""

from collections.abc import Iterable

from msgspec import Struct

from pinfold.checkpoint.ledger_lines import Sizes
from pinfold.checkpoint.ledger_records import FileRecord, NameRecord, Records
from pinfold.checkpoint.ledger_words import Outcome
from pinfold.checkpoint.text import one_line

COST_POWER = 1.5
"""1 ranks by worth a token, 0 by worth alone."""
_CHANGED, _READ = 12.0, 8.0
"""What a file is worth beyond its name: the user and the agent come back to it."""


class Entry(Struct, frozen=True, gc=False):
    value: float
    """Its worth for its tokens."""
    tokens: int
    said: str
    """Of a path, its last part."""
    what: Outcome | FileRecord | NameRecord
    uri: str = ""
    """A file's path, or the whole name."""


def ranked(
    records: Records,
    likeliest: Iterable[tuple[str, float]],
    outcomes: Iterable[Outcome],
    sizes: Sizes,
    *,
    together: bool,
) -> list[Entry]:
    """The best first. With `together`, a name is worth what all files of that name are."""
    named: list[tuple[float, str, FileRecord | NameRecord, str]] = [
        (records.worth(uri), last(one_line(uri)), file, uri) for uri, file in records.files.items()
    ]
    for name, worth in likeliest:
        record = records.names[name]
        named.append((worth, last(name) if record.kind == "path" else name, record, name))
    sums: dict[str, float] = {}
    for worth, said, _, _ in named if together else ():
        sums[said] = sums.get(said, 0) + worth
    found: list[Entry] = []
    for outcome in outcomes:
        tokens = sizes[f"\n{outcome.text}"] or 1
        found.append(Entry(outcome.worth / tokens**COST_POWER, tokens, outcome.text, outcome))
    for worth, said, what, uri in named:
        tokens = sizes[f" {said}"] or 1
        value = sums.get(said, worth) / tokens**COST_POWER
        found.append(Entry(value, tokens, said, what, uri))
    found.sort(key=lambda entry: (-entry.value, entry.said, entry.uri))
    return found


def files_by_worth(records: Records) -> list[tuple[str, FileRecord]]:
    """Those that were touched, the best first."""

    def rank(uri: str, file: FileRecord) -> tuple[float, str]:
        return -records.worth(uri) - (_CHANGED if file.changed else _READ), uri

    return sorted(records.files.items(), key=lambda each: rank(*each))


def head(path: str) -> str:
    """What stands before the name of a file."""
    return path[: path.rfind("/") + 1]


def last(path: str) -> str:
    return path[path.rfind("/") + 1 :]

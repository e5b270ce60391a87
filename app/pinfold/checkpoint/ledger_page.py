"""The ledger's page: what stands where, and how much of the budget it may take."""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pinfold.checkpoint.commitments import Commitment
from pinfold.checkpoint.ledger_lines import Filling, Line, Sizes
from pinfold.checkpoint.ledger_ranking import (
    COST_POWER,
    Entry,
    files_by_worth,
    head,
    last,
    ranked,
)
from pinfold.checkpoint.ledger_records import FileRecord, NameRecord, Records, above
from pinfold.checkpoint.ledger_told import GROUPS, INDENT, hashed, is_plain
from pinfold.checkpoint.ledger_words import Outcome, done, failures, runs, verb
from pinfold.checkpoint.text import one_line

HEADER = "[LEDGER v1]"
COMMITMENT_SHARE = 0.2
"""Of the budget that the commitments have before all else; the rest of them comes last."""
KNOWN_SHARE, KNOWN_LEAST = 0.4, 300
"""Of the budget, and tokens beside it, for files that are as the session knew them, with their
hashes."""
KNOWN_MOST = 0.95
"""Of the budget, that these may take."""
SMALL = 950
"""Tokens of a budget in which nothing else has a share of its own."""
FAILURE_SHARE = 1.2
"""Of what the budget has beyond `SMALL`, for what failed."""
FILE_SHARE = 2.0
"""The same, for files."""
RUN_SHARE = 0.03
"""Of a budget beyond `SMALL`, for the runs of tests and commands that are worth most."""
PLAIN = 600
"""Tokens of a budget in which names stand in one line, and not with the files that they are in."""
WHOLE = 2_000
"""Tokens of a budget from which files that were only seen may bring in their folder."""
CROWD = 8
"""Such files that may bring it in on any page."""
ROOM = 0.4
"""Of the budget, that must be left once all names are told before any is told more of."""

_MORE = 200
"""Names that are looked at for a page, beside one for every two tokens."""
_MISSES = 200
"""Entries in a row that do not fit, after which no other is tried."""
_FOLDER_COST = 3
"""Tokens of a folder's line, at least."""
_WHERE = {
    "user": "- named by the user:",
    "reference": "- used in calls:",
    "body": "- written:",
    "assistant": "- mentioned by the agent:",
    "reasoning": "- mentioned by the agent:",
    "output": "- seen in output:",
}
"""Who used a name, where there is room to say so."""


class Page:
    """A page of at most `budget` tokens.

    Where there is room, each file has a line with what happened to it. Else the files of a folder
    share its line; those whose folder is not worth one are told by their name alone, as all names
    are.
    """

    def __init__(
        self, records: Records, commitments: Sequence[Commitment], budget: int, sizes: Sizes
    ) -> None:
        self._records = records
        self._commitments = commitments
        self._budget = budget
        self._sizes = sizes
        root = Line(HEADER)
        self._filling = Filling(root, budget, sizes)
        sections = ("COMMITMENTS", "FAILED", "TESTS", "FILES", "COMMANDS", "NAMES")
        self._section = {
            name: Line(f"[{name}]", root, rank=rank) for rank, name in enumerate(sections)
        }
        self._names = Line("", self._section["NAMES"], joint="")
        self._likeliest = [
            (name, worth)
            for name, worth in records.likeliest()[: budget // 2 + _MORE]
            if not records.names[name].folder
        ]
        self._seen = Counter(
            head(name) for name, _ in self._likeliest if records.names[name].kind == "path"
        )
        self._least = 0.0
        """The value of the last entry that fits; 0 where there is room for more than names."""
        self._told: set[str] = set()
        """What stands before the names of files in folders that are worth their line."""
        self._roots = roots(records.files)
        self._folders: dict[str, Line] = {}
        """By what stands before a name in a path."""
        self._lines: dict[tuple[Line, str], Line] = {}
        """By where they stand and what they say."""
        self._holders: dict[str, Line] = {}
        """By file: what the names in it stand under."""

    def text(self) -> str:
        budget, filling = self._budget, self._filling
        beyond = max(0, budget - SMALL)
        failed, ran = list(failures(self._records)), list(runs(self._records))
        late = filling.place_first(self._promises(), budget * COMMITMENT_SHARE)
        together = budget < WHOLE
        entries = ranked(
            self._records, self._likeliest, [*failed, *ran], self._sizes, together=together
        )
        self._least = self._least_of(entries)
        self._told = self._told_folders()
        files = files_by_worth(self._records)
        of_known = min(KNOWN_MOST * budget, KNOWN_SHARE * budget + KNOWN_LEAST)
        self._place_files((each for each in files if each[1].known), of_known)
        filling.place_first(self._by_worth(failed), beyond * FAILURE_SHARE)
        self._place_files(files, beyond * FILE_SHARE)
        if beyond:
            filling.place_first(self._by_worth(ran), budget * RUN_SHARE)
        self._place_best(entries)
        for line in late:
            filling.place(line)
        return filling.text()

    @property
    def _roomy(self) -> bool:
        """Whether there is room for more than names."""
        return not self._least

    def _brings(self, before: str) -> bool:
        """Whether files that were only seen may bring in their folder."""
        return self._budget >= WHOLE or self._roomy or self._seen[before] >= CROWD

    def _place_files(self, files: Iterable[tuple[str, FileRecord]], share: float) -> None:
        for uri, file in files:
            if share <= 0:
                return
            if uri not in self._holders:
                share -= self._place_file(uri, file)

    def _place_best(self, entries: Iterable[Entry]) -> None:
        """Whatever is worth most for the tokens that it takes."""
        listed: set[str] = set()
        misses = 0
        for entry in entries:
            if misses > _MISSES:
                return
            match entry.what:
                case Outcome(section=section):
                    line = self._line(entry.said, self._section[section])
                    if line.placed:
                        continue
                    placed = self._filling.place(line)
                case FileRecord() if entry.uri in self._holders:
                    continue
                case FileRecord() as file if head(entry.uri) in self._told:
                    placed = self._place_file(entry.uri, file)
                case NameRecord() as name if holder := self._holder(entry, name):
                    placed = self._filling.place(holder, entry.said)
                case NameRecord(source=source) if self._roomy:
                    line = self._line(_WHERE[source], self._section["NAMES"])
                    placed = self._filling.place(line, entry.uri)
                case _ if entry.said in listed:
                    continue
                case _:
                    placed = self._filling.place(self._names, entry.said)
                    listed.add(entry.said)
            misses = 0 if placed else misses + 1

    def _least_of(self, entries: Sequence[Entry]) -> float:
        left = self._filling.left
        for entry in entries:
            left -= entry.tokens
            if left < 0:
                return entry.value
        return entries[-1].value if entries and left < self._budget * ROOM else 0.0

    def _told_folders(self) -> set[str]:
        worth: dict[str, float] = {}
        for uri in self._records.files:
            before = head(uri)
            worth[before] = worth.get(before, 0) + self._records.worth(uri)
        for name, each in self._likeliest:
            before = head(name)
            if self._records.names[name].kind == "path" and self._brings(before):
                worth[before] = worth.get(before, 0) + each
        return {before for before in worth if self._pays(before, worth[before])}

    def _pays(self, before: str, worth: float) -> bool:
        """Whether a folder's line is worth its tokens."""
        if worth < self._least * _FOLDER_COST**COST_POWER:
            return False
        cost: float = self._filling.cost(self._folder(before)) ** COST_POWER
        return worth >= self._least * cost

    def _promises(self) -> Iterator[Line]:
        """The commitments, newest first."""
        section = self._section["COMMITMENTS"]
        return (Line(each.line, section) for each in reversed(self._commitments))

    def _by_worth(self, outcomes: Iterable[Outcome]) -> Iterator[Line]:
        best = sorted(outcomes, key=lambda each: (-each.worth, each.text))
        return (self._line(each.text, self._section[each.section]) for each in best)

    def _place_file(self, uri: str, file: FileRecord) -> int:
        path = one_line(uri)
        folder, name = self._folder(head(path)), last(path)
        if self._roomy or not is_plain(name):
            line = Line(f"- {name}: {done(file)}", folder, joint="; ", rank=1)
            self._holders[uri] = line
            return self._filling.place(line)
        line = self._group(folder, "outdated" if file.outdated else verb(file))
        self._holders[uri] = self._group(folder, "with")
        return self._filling.place(line, hashed(name, file.known) if file.known else name)

    def _holder(self, entry: Entry, record: NameRecord) -> Line | None:
        """Where a name stands, if not among all others."""
        if record.kind == "path":
            before = head(entry.uri)
            folder = self._folders.get(before)
            told = (folder and folder.placed) or (before in self._told and self._brings(before))
            return self._group(self._folder(before), "seen") if told else None
        if self._budget < PLAIN and not self._roomy:
            return None
        holder = self._holders.get(record.file or "")
        shown = holder.under if holder and holder.inline else holder
        return holder if shown and shown.placed else None

    def _folder(self, before: str) -> Line:
        """The folder of paths in which `before` stands before the name."""
        line = self._folders.get(before)
        if line is None:
            line = self._folders[before] = self._new_folder(posixpath.dirname(before))
        return line

    def _new_folder(self, folder: str) -> Line:
        section = self._section["FILES"]
        root = self._roots.get(folder)
        if root is None or root == folder:
            return self._line("/" if folder == "/" else f"{folder or '.'}/", section, "; ")
        below = folder[len(root) + 1 :]
        return self._line(f"{INDENT}{below}/", self._line(f"{root}/", section, "; "), "; ")

    def _line(self, text: str, under: Line, between: str = " ") -> Line:
        line = self._lines.get((under, text))
        if line is None:
            line = self._lines[under, text] = Line(text, under, between=between, rank=2)
        return line

    def _group(self, folder: Line, label: str) -> Line:
        line = self._lines.get((folder, label))
        if line is None:
            rank = GROUPS.index(label)
            line = self._lines[folder, label] = Line(label, folder, inline=True, rank=rank)
        return line


def roots(paths: Iterable[str]) -> dict[str, str]:
    """For folders of `paths`, the folder above that saves most when told once."""
    folders = {posixpath.dirname(each) for each in set(map(head, paths))}
    chains = {folder: [folder, *above(folder)] for folder in folders if len(folder) > 1}
    below = Counter(each for chain in chains.values() for each in chain)
    found: dict[str, str] = {}
    for folder, chain in chains.items():
        root = max(chain, key=lambda each: ((below[each] - 1) * len(each), each))
        if below[root] > 1:
            found[folder] = root
    return found

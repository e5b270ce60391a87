"""What the ledger knows: folded from the session's items, each looked at once."""

import itertools
import posixpath
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from pinfold.checkpoint import ledger_outcomes as outcomes
from pinfold.checkpoint.anchors import MEMORY_TOOL
from pinfold.checkpoint.ledger_names import Name, NameKind, call_texts, is_file, names
from pinfold.checkpoint.text import short
from pinfold.rollout.events import ArtifactObserved
from pinfold.rollout.items import Item

Source = Literal["reference", "body", "user", "assistant", "reasoning", "output"]

MAX_NAMES = 16_384
MAX_RECORDS = 1_024
"""Of files, of commands, and of errors."""
MAX_COMMAND_CHARS = 120
_LIKELIEST = 2_500
"""Names that may come onto a page."""

_WEIGHTS: dict[Source, float] = {
    "reference": 6.0,
    "user": 4.0,
    "body": 4.0,
    "assistant": 2.0,
    "reasoning": 1.0,
    "output": 1.0,
}
"""How likely it is that a later call needs a name, by who used it."""
_CROWD = 30
"""Names beside which one counts half."""
_MAX_REPEATS = 3
_MEANT = 2
"""Times that the user says a hash which is to be kept."""
_FRESH = 30
"""Items for which a hash is kept that was only shown."""
_FADES = ((0.6, 30), (0.35, 250))
"""Shares of a weight, and after how many items each has halved."""
_LASTING = 0.05
_FOLDER = 0.25
"""Of a weight, that of a folder: its files stand in it anyway."""


class Weight(Struct):
    """A sum of weights that fade as items come, each at the same pace."""

    fast: float = 0.0
    slow: float = 0.0
    lasting: float = 0.0
    at: int = 0

    def add(self, weight: float, now: int) -> None:
        fast, slow = self._faded(now)
        self.fast = fast + weight * _FADES[0][0]
        self.slow = slow + weight * _FADES[1][0]
        self.lasting += weight * _LASTING
        self.at = now

    def value(self, now: int) -> float:
        fast, slow = self._faded(now)
        return fast + slow + self.lasting

    def _faded(self, now: int) -> tuple[float, float]:
        age = now - self.at
        return (
            self.fast * 0.5 ** (age / _FADES[0][1]),
            self.slow * 0.5 ** (age / _FADES[1][1]),
        )


class NameRecord(Struct):
    kind: NameKind
    source: Source
    """The weightiest."""
    weight: Weight
    said: int = 0
    """Times that the user said it."""
    file: str | None = None
    """The file in which, or in a call about which, it last stood."""
    item: int = 0
    folder: bool = False
    """Whether it is a path without a known file ending."""


class FileRecord(Struct):
    read: int = 0
    changed: int = 0
    created: bool = False
    deleted: bool = False
    hash: str | None = None
    """As the session last saw it."""
    outdated: bool = False
    """Whether others changed it since."""
    item: int = 0

    @property
    def known(self) -> str | None:
        """Its hash, where it is as the session last saw it."""
        return None if self.outdated else self.hash


class CommandRecord(Struct):
    text: str
    runs: int = 0
    ok: bool = True
    exit_code: int | None = None
    item: int = 0


class ErrorRecord(Struct):
    line: str
    command: str
    times: int = 0
    item: int = 0


class TestRecord(Struct):
    said: str = ""
    item: int = 0
    failed: tuple[str, ...] = ()


class Records:
    """Mutated by `add` and `observe`."""

    def __init__(self) -> None:
        self.cwd = ""
        self.now = 0
        """Items so far: the clock by which weights fade."""
        self.names: dict[str, NameRecord] = {}
        self.files: dict[str, FileRecord] = {}
        self.commands: dict[str, CommandRecord] = {}
        self.errors: dict[str, ErrorRecord] = {}
        self.tests: dict[str, TestRecord] = {}
        """By command."""
        self._calls: dict[str, tuple[str, str | None]] = {}
        """By id, while open: what a call refers to, and its file."""
        self._last: Item | None = None
        """The last result."""
        self._likeliest: list[tuple[str, float]] | None = None
        self._aliases: dict[str, list[str]] = {}
        """By a touched file's path: the paths that are the end of it."""

    def known_files(self) -> int:
        """Files that are as the session last saw them, by their hash."""
        return sum(file.known is not None for file in self.files.values())

    def likeliest(self) -> list[tuple[str, float]]:
        """The names most likely to be needed, with their weights: but for files that were
        touched, the folders above them, and bare names of files that are known by their path."""
        if self._likeliest is None:
            self._aliases = self._known_by_their_end()
            known = {*self.files, *itertools.chain.from_iterable(self._aliases.values())}
            folders = {posixpath.dirname(path) for path in self.files}
            known.update(folders, *map(above, folders))
            values = {
                name: record.weight.value(self.now) * (_FOLDER if record.folder else 1)
                for name, record in self.names.items()
                if name not in known
                and not (record.kind == "hash" and self._is_passing(name, record))
            }
            self._join_bare(values)
            ranked = sorted(values, key=lambda name: (-values[name], name))
            self._likeliest = [(name, values[name]) for name in ranked[:_LIKELIEST]]
        return self._likeliest

    def _join_bare(self, values: dict[str, float]) -> None:
        """The weight of a bare file name goes to the weightiest path that ends with it."""
        longer: dict[str, tuple[float, str]] = {}
        for name, value in values.items():
            bare = name[name.rfind("/") + 1 :]
            if bare != name and self.names[name].kind == "path":
                longer[bare] = max((value, name), longer.get(bare, (0.0, "")))
        for bare, (_, name) in longer.items():
            if bare in values and self.names[bare].kind == "path":
                values[name] += values.pop(bare)

    def _is_passing(self, name: str, record: NameRecord) -> bool:
        """Whether a commit was only shown, a while ago: no call used it, and the user did not
        come back to it."""
        commit = "-" not in name and not name.isdecimal()
        meant = record.source in {"reference", "body"} or record.said >= _MEANT
        return commit and not meant and self.now - record.weight.at > _FRESH

    def worth(self, uri: str) -> float:
        """Of a file's path and of the names that are the end of it."""
        told = [uri, *self._aliases.get(uri, ())]
        return sum(self.names[name].weight.value(self.now) for name in told if name in self.names)

    def _known_by_their_end(self) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for path in self.files:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        found: dict[str, list[str]] = {}
        for name, record in self.names.items():
            if record.kind == "path" and name not in self.files:
                for path in reversed(by_name.get(name.rpartition("/")[2], ())):
                    if path.endswith(f"/{name}"):
                        found.setdefault(path, []).append(name)
                        break
        return found

    def add(self, item: Item) -> None:
        self.now += 1
        self._likeliest = None
        match item.kind:
            case "tool_call":
                self._called(item)
            case "tool_result":
                self._returned(item)
            case "user" | "assistant" | "reasoning":
                self._name(item.content, item.kind, item.n, None)
            case "context":
                self._name(item.content, "output", item.n, None)
            case _:  # what a compaction wrote is made of what is known
                pass

    def observe(self, seen: ArtifactObserved) -> None:
        if seen.kind == "command":
            self._ran(seen.uri.removeprefix("cmd:"), seen.item)
        if seen.kind != "file" or seen.op == "list":
            return
        if seen.item is None:
            self._found(seen)
            return
        self._likeliest = None
        record = self.files.pop(seen.uri, None) or FileRecord()
        self.files[seen.uri] = record
        record.outdated = False
        record.read += seen.op == "read"
        record.changed += seen.op in {"create", "update", "delete"}
        record.created = record.created or seen.op == "create"
        record.deleted = seen.op == "delete"
        record.hash = (
            None if record.deleted else seen.hash or (record.hash if seen.op == "read" else None)
        )
        record.item = seen.item or record.item
        _cap(self.files)

    def _found(self, seen: ArtifactObserved) -> None:
        """A file is now so on the disk; the session has not looked into it."""
        if (record := self.files.get(seen.uri)) is not None:
            record.outdated = seen.hash is None or seen.hash != record.hash
            record.deleted = seen.op == "delete"

    def _ran(self, command: str, item: int | None) -> None:
        last = self._last
        if last is None or last.n != item:
            return
        text = short(command, MAX_COMMAND_CHARS)
        ok, code = _went_well(last), last.detail.get("exit_code")
        run = self.commands.pop(text, None) or CommandRecord(text)
        self.commands[text] = run
        run.runs += 1
        run.ok, run.exit_code, run.item = ok, code if isinstance(code, int) else None, last.n
        _cap(self.commands)
        if tested := outcomes.outcome_of_tests(last.content):
            self.tests.pop(text, None)
            self.tests[text] = TestRecord(tested.said, last.n, tested.failed)
            _cap(self.tests)
        for error in self.errors.values():
            if error.item == last.n:
                error.command = text

    def _called(self, item: Item) -> None:
        references, bodies = call_texts(item)
        referred = list(names(references, self.cwd))
        written = list(names(bodies, self.cwd))
        paths = (name.text for name in (*referred, *written) if name.kind == "path")
        file = next((path for path in paths if is_file(path)), None)
        self._weigh(referred, "reference", item.n, file)
        self._weigh(written, "body", item.n, file)
        if item.call_id:
            self._calls[item.call_id] = (references or item.name or "", file)

    def _returned(self, item: Item) -> None:
        command, file = self._calls.pop(item.call_id or "", (item.name or "", None))
        shown = short(command, MAX_COMMAND_CHARS)
        self._name(item.content, "output", item.n, file)
        if item.state == "unknown" or item.name == MEMORY_TOOL:
            return  # nobody knows the call's outcome, or it is the host's own word
        self._last = item
        if not _went_well(item):
            for failure in outcomes.failures(item.content, command):
                error = self.errors.pop(failure.label, None) or ErrorRecord(failure.line, shown)
                error.line, error.command, error.item = failure.line, shown, item.n
                error.times += 1
                self.errors[failure.label] = error
            _cap(self.errors)

    def _name(self, text: str, source: Source, item: int, file: str | None) -> None:
        self._weigh(list(names(text, self.cwd)), source, item, file)

    def _weigh(self, found: list[Name], source: Source, item: int, file: str | None) -> None:
        counts = Counter(found)
        weight = _WEIGHTS[source]
        if source not in {"reference", "body"}:
            weight /= 1 + len(counts) / _CROWD
        for name, times in counts.items():
            record = self.names.get(name.text)
            if record is None:
                folder = name.kind == "path" and not is_file(name.text)
                record = NameRecord(name.kind, source, Weight(), folder=folder)
                self.names[name.text] = record
            if _WEIGHTS[source] > _WEIGHTS[record.source]:
                record.source = source
            if file is not None and name.text != file:
                record.file = file
            record.item = item
            if source == "user":
                record.said += times
            record.weight.add(weight * min(times, _MAX_REPEATS) ** 0.5, self.now)
        if len(self.names) > MAX_NAMES:
            self._forget()

    def _forget(self) -> None:
        """Half of the names: the lightest."""
        values = {name: each.weight.value(self.now) for name, each in self.names.items()}
        kept = set(sorted(values, key=lambda name: (-values[name], name))[: MAX_NAMES // 2])
        self.names = {name: each for name, each in self.names.items() if name in kept}


def above(path: str) -> Iterator[str]:
    """The folders above a path, the nearest first, but the root of the file system."""
    while len(path := posixpath.dirname(path)) > 1:
        yield path


def _went_well(result: Item) -> bool:
    return result.detail.get("ok") is not False


def _cap(records: dict[str, Any]) -> None:
    while len(records) > MAX_RECORDS:
        del records[next(iter(records))]

"""The ledger's page: its sections and lines, and how likely each is needed."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from pinfold.checkpoint.commitments import Commitment
from pinfold.checkpoint.ledger_lines import Candidate, Count, Filling, Node
from pinfold.checkpoint.ledger_records import (
    CommandRecord,
    ErrorRecord,
    FileRecord,
    NameRecord,
    Records,
    TestRecord,
    above,
)
from pinfold.checkpoint.text import one_line
from pinfold.checkpoint.view import HASH_CHARS

HEADER = "[LEDGER v1]"
COMMITMENT_SHARE = 0.2
"""Of the budget that the commitments have before all else; the rest of them comes last."""
FAILURE_SHARE = 0.6
"""Of what the budget has beyond `SMALL`, for what failed."""
FILE_SHARE = 1.0
"""The same, for files."""
RUN_SHARE = 0.05
"""Of a budget from `SMALL` on, for the runs of tests and commands that are worth most."""
SMALL = 800
"""Tokens of a budget in which nothing has a share of its own but the commitments."""
BRIEF = 600
"""Tokens of a budget in which files stand in their folder's line."""

INDENT = "  "
"""Before a folder that stands under another."""
_GROUPS = ("outdated", "created", "edited", "deleted", "read", "seen", "with")
"""Of a folder: its files, by what happened to them, and names that stand in them."""

_FOLDER = re.compile(
    rf"(?P<indent>{INDENT})?(?P<path>\S.*?/|/)(?: (?P<groups>(?:{'|'.join(_GROUPS)}) .*))?$"
)
"""The line of a folder."""
_PARTING = re.compile(r"[\s;]")
"""In a name that needs a line of its own."""
_MORE = 200
"""Names that are looked at for a page, beside one for every two tokens."""
_CHANGED, _READ = 12.0, 8.0
"""What a file is worth beyond its name: the user and the agent come back to it."""
_FAILED, _FIXED, _RAN, _TESTED = 7.0, 2.0, 0.2, 4.0
_HALVED = 60
"""Items after which half of what an outcome is worth has faded, to no less than a half."""
_WHERE = {
    "user": "- named by the user:",
    "reference": "- used in calls:",
    "body": "- written:",
    "assistant": "- mentioned by the agent:",
    "reasoning": "- mentioned by the agent:",
    "output": "- seen in output:",
}


class Page:
    def __init__(self, records: Records, commitments: tuple[Commitment, ...]) -> None:
        self._records = records
        self._commitments = commitments
        self.root = Node(HEADER)
        sections = ("COMMITMENTS", "FAILED", "TESTS", "FILES", "COMMANDS", "URLS", "NAMES")
        self._section = {
            name: Node(f"[{name}]", self.root, rank=rank) for rank, name in enumerate(sections)
        }
        self._touched: set[Node] = set()
        self._brief = False
        self._roots: dict[str, str] = {}
        self._folders: dict[str, Node] = {}
        """By what stands before a name in a path."""
        self._lines: dict[tuple[Node, str], Node] = {}
        """Lines that hold several names, folders and their groups, by where they stand and what
        they say."""
        self._holders: dict[str, Node] = {}
        """By file: what the names in it stand under."""
        self._errors = [self._error(*each) for each in records.errors.items()]
        self._runs = [
            *(self._tested(*each) for each in records.tests.items()),
            *(self._command(run) for run in records.commands.values()),
        ]

    def text(self, budget: int, count: Count) -> str:
        """The page in at most `budget` tokens."""
        self._brief = budget < BRIEF
        filling = Filling(self.root, budget, count)
        likeliest = self._records.likeliest()[: budget // 2 + _MORE]
        paths = [name for name, _ in likeliest if self._records.names[name].kind == "path"]
        self._roots = roots([*self._records.files, *paths])
        rest = [*self._files(), *self._errors, *self._runs, *self._names(likeliest)]
        beyond = max(0, budget - SMALL)
        late = _place_first(filling, self._promises(), budget * COMMITMENT_SHARE, count)
        _place_first(filling, _by_worth(self._errors), beyond * FAILURE_SHARE, count)
        files = [each for each in rest if each.node in self._touched]
        _place_first(filling, _by_worth(files), beyond * FILE_SHARE, count)
        if budget >= SMALL:
            _place_first(filling, _by_worth(self._runs), budget * RUN_SHARE, count)
        filling.place_best(rest)
        for node in late:
            filling.place(node)
        return filling.text()

    def _promises(self) -> list[Node]:
        """The commitments, newest first."""
        section = self._section["COMMITMENTS"]
        return [Node(each.line, section) for each in reversed(self._commitments)]

    def _files(self) -> list[Candidate]:
        found: list[Candidate] = []
        for uri, file in self._records.files.items():
            worth = self._records.worth(uri)
            worth += _CHANGED if file.changed else _READ
            found.append(Candidate(worth, self._file(uri, file)))
        return found

    def _file(self, uri: str, file: FileRecord) -> Node:
        path, slash, name = one_line(uri).rpartition("/")
        folder = self._folder(path + slash)
        if self._brief and not _PARTING.search(name):
            node = Node(
                name, self._group(folder, "outdated" if file.outdated else _verb(file)), inline=True
            )
            self._holders[uri] = self._group(folder, "with")
        else:
            node = Node(f"- {name}: {_done(file)}", folder, joint="; ", rank=1)
            self._holders[uri] = node
        self._touched.add(node)
        return node

    def _folder(self, head: str) -> Node:
        """The folder of paths that begin with `head` and go on with a name."""
        node = self._folders.get(head)
        if node is None:
            node = self._folders[head] = self._new_folder(posixpath.dirname(head))
        return node

    def _new_folder(self, folder: str) -> Node:
        section = self._section["FILES"]
        root = self._roots.get(folder)
        if root is None or root == folder:
            return self._line("/" if folder == "/" else f"{folder or '.'}/", section, "; ")
        below = posixpath.relpath(folder, root)
        return self._line(f"{INDENT}{below}/", self._line(f"{root}/", section, "; "), "; ")

    def _line(self, text: str, parent: Node, between: str = " ") -> Node:
        node = self._lines.get((parent, text))
        if node is None:
            node = self._lines[parent, text] = Node(text, parent, between=between, rank=2)
        return node

    def _group(self, folder: Node, label: str) -> Node:
        node = self._lines.get((folder, label))
        if node is None:
            rank = _GROUPS.index(label)
            node = self._lines[folder, label] = Node(label, folder, inline=True, rank=rank)
        return node

    def _names(self, likeliest: list[tuple[str, float]]) -> list[Candidate]:
        return [
            Candidate(worth, self._name(name, self._records.names[name]))
            for name, worth in likeliest
        ]

    def _name(self, name: str, record: NameRecord) -> Node:
        match record.kind:
            case "url":
                how = {"user": "given by the user", "reference": "used"}.get(record.source, "seen")
                return Node(f"- {one_line(name)} ({how} #{record.item})", self._section["URLS"])
            case "path":
                path, slash, last = name.rpartition("/")
                return Node(last, self._group(self._folder(path + slash), "seen"), inline=True)
            case "hash" | "issue" | "identifier":
                holder = self._holders.get(record.file or "")
                if holder is None:
                    holder = self._line(_WHERE[record.source], self._section["NAMES"])
                return Node(name, holder, inline=True)

    def _tested(self, command: str, run: TestRecord) -> Candidate:
        failed = f"; failed: {', '.join(run.failed)}" if run.failed else ""
        text = one_line(f"- {run.said} (#{run.item}, {command}){failed}")
        return Candidate(self._fresh(_TESTED, run.item), Node(text, self._section["TESTS"]))

    def _error(self, label: str, error: ErrorRecord) -> Candidate:
        run = self._records.commands.get(error.command)
        fixed = run is not None and run.ok and run.item > error.item
        often = f", {error.times}x" if error.times > 1 else ""
        since = f", ok since #{run.item}" if run and fixed else ""
        text = f"- {label}{often} (#{error.item}{since}): {error.line}"
        worth = self._fresh(_FIXED if fixed else _FAILED, error.item)
        return Candidate(worth, Node(text, self._section["FAILED"]))

    def _command(self, run: CommandRecord) -> Candidate:
        outcome = "ok" if run.ok else f"exit {run.exit_code}" if run.exit_code else "failed"
        often = f" {run.runs}x" if run.runs > 1 else ""
        text = f"- {outcome}{often} #{run.item}: {run.text}"
        worth = self._fresh(_RAN * run.runs if run.ok else _FAILED / 2, run.item)
        return Candidate(worth, Node(text, self._section["COMMANDS"]))

    def _fresh(self, worth: float, item: int) -> float:
        """`worth` of something that happened at `item`."""
        faded: float = 0.5 ** (max(0, self._records.now - item) / _HALVED)
        return worth * (0.5 + 0.5 * faded)


def paths_told(page: str) -> Iterator[str]:
    """The paths on a page, whole; their folders stand above them."""
    root = folder = ""
    for line in page.splitlines():
        match = _FOLDER.match(line)
        if line.startswith("- "):
            yield posixpath.join(folder, line[2:].partition(": ")[0])
        elif match:
            folder = match["path"].removeprefix("./")
            if match["indent"]:
                folder = posixpath.join(root, folder)
            else:
                root = folder
            yield folder
            for group in (match["groups"] or "").split("; "):
                label, *names = group.split() or [""]
                if label != "with":
                    yield from (posixpath.join(folder, name) for name in names)
        else:
            root = folder = ""


def roots(paths: Iterable[str]) -> dict[str, str]:
    """For folders of `paths`, the folder above that saves most when told once."""
    heads = {path[: path.rfind("/") + 1] for path in paths}
    folders = {posixpath.dirname(head) for head in heads}
    chains = {folder: [folder, *above(folder)] for folder in folders if len(folder) > 1}
    below = Counter(each for chain in chains.values() for each in chain)
    found: dict[str, str] = {}
    for folder, chain in chains.items():
        root = max(chain, key=lambda each: ((below[each] - 1) * len(each), each))
        if below[root] > 1:
            found[folder] = root
    return found


def _by_worth(candidates: list[Candidate]) -> list[Node]:
    ranked = sorted(candidates, key=lambda each: (-each.worth, each.node.text))
    return [each.node for each in ranked]


def _place_first(filling: Filling, nodes: list[Node], share: float, count: Count) -> list[Node]:
    """Place of `nodes` what fits into `share` tokens; the rest is returned."""
    late: list[Node] = []
    for node in nodes:
        cost = count(node.text) + 1
        if cost > share or filling.place(node) is None:
            late.append(node)
        else:
            share -= cost
    return late


def _verb(file: FileRecord) -> str:
    if not file.changed:
        return "read"
    deleted = file.deleted and not file.outdated
    return "deleted" if deleted else "created" if file.created else "edited"


def _done(file: FileRecord) -> str:
    """What happened to a file."""
    done = [_often(_verb(file), file.changed)] if file.changed else []
    if file.read:
        done.append(_often("read", file.read))
    last = f" #{file.item}" if file.item else ""
    if file.outdated:
        return f"{', '.join(done)}{last}, {'gone' if file.deleted else 'changed'} since"
    known = f" (hash={file.hash[:HASH_CHARS]})" if file.hash else ""
    return f"{', '.join(done)}{last}{known}"


def _often(verb: str, times: int) -> str:
    return f"{verb} {times}x" if times > 1 else verb

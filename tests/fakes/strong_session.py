"""A strong model at work in a window of 34k: 40 requests, scripted, each with what it relies on.

`await play(tmp_path)` plays it on a whole session, with real tools in a small project.
"""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fakes import strong_project
from fakes.agent import Stage, stage
from fakes.provider import ScriptedProvider, Step, calls, says
from pinfold.agent.options import Options
from pinfold.agent.requests.metadata import HEADER
from pinfold.ports.errors import RequestRejected
from pinfold.ports.provider import Delta, ModelInfo, Request
from pinfold.rollout.events import ItemsMarked, RequestFinished

MODEL = ModelInfo("strong-1", "scripted", 34_000, "config", max_output=8_192)
REQUESTS = 40
OPTIONS = Options(approvals="full")


@dataclass(frozen=True)
class Move:
    """A call of the model's; `id` is its call_id."""

    id: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One response: its calls, or, where it has none, the end of a turn."""

    uses: tuple[str, ...]
    """Earlier moves without whose arguments and output it could not have been written."""
    moves: tuple[Move, ...] = ()
    text: str = ""

    @property
    def steps(self) -> list[Step]:
        if not self.moves:
            return says(self.text)
        made = ((move.id, move.tool, json.dumps(move.arguments)) for move in self.moves)
        return calls(*made, text=self.text)


def _does(uses: str, *moves: Move, text: str = "") -> Reply:
    return Reply(tuple(uses.split()), moves, text)


def _read(key: str, path: str) -> Move:
    return Move(key, "read_file", {"path": path})


def _run(key: str, command: str = "sh check.sh") -> Move:
    return Move(key, "shell", {"command": command})


def _edit(key: str, path: str, old: str, new: str) -> Move:
    return Move(key, "edit_file", {"path": path, "old_string": old, "new_string": new})


def _patch(key: str, path: str, old: str, new: str) -> Move:
    lines = ["*** Begin Patch", f"*** Update File: {path}", "@@", f"-{old}", f"+{new}"]
    return Move(key, "apply_patch", {"patch": "\n".join([*lines, "*** End Patch"])})


def _write(key: str, path: str, content: str) -> Move:
    return Move(key, "write_file", {"path": path, "content": content})


def _export(special: str) -> str:
    return strong_project.source("export", 32, special)


TURNS: tuple[tuple[str, tuple[Reply, ...]], ...] = (
    (
        "`sh check.sh` fails. Find out why and mend it with the smallest edits.",
        (
            _does("", Move("list", "list_dir", {"path": "."}), _read("readme", "README.md")),
            _does("list", _run("check1"), text="I'll run the checks first."),
            _does("check1", _read("totals1", "src/totals.py")),
            _does("check1", _read("parse1", "src/parse.py")),
            _does(
                "check1 totals1",
                _edit("fix-totals", "src/totals.py", "total += row.amount", "total += row.cents"),
            ),
            _does(
                "check1 parse1",
                _patch(
                    "bad-patch",
                    "src/parse.py",
                    "\n-".join(f"    head, rest = line.partition({n})" for n in range(40)),
                    "    head, kind, rest = line.split(maxsplit=2)",
                ),
            ),
            _does("bad-patch", Move("grep1", "grep", {"pattern": "maxsplit", "path": "src"})),
            _does(
                "bad-patch grep1 parse1",
                _patch(
                    "fix-parse",
                    "src/parse.py",
                    "    head, rest = line.split(maxsplit=1)",
                    "    head, kind, rest = line.split(maxsplit=2)",
                ),
            ),
            _does("check1", _read("report1", "src/report.py"), _read("model1", "src/model.py")),
            _does("report1", _run("format1", "cat docs/format.md")),
            _does(
                "check1 report1 format1",
                _edit("fix-report", "src/report.py", "str(total).rjust(10)", "cell_of(width=12)"),
            ),
            _does(
                "totals1 fix-totals",
                _edit("tidy", "src/totals.py", "def totals_1(rows", "def totals_1(all_rows"),
            ),
            _does("fix-report tidy", _run("check4")),
            _does("check4", text="All three modules are mended; the checks pass."),
        ),
    ),
    (
        "Now write src/export.py, which exports rows as CSV. The checks know what it must hold.",
        (
            _does("", _read("model2", "src/model.py")),
            _does("model2", _read("report2", "src/report.py")),
            _does("model2 report2", _write("export1", "src/export.py", _export("mode = 'w'"))),
            _does("export1", _run("check5")),
            _does(
                "export1 check5",
                _edit("edit-export", "src/export.py", "mode = 'w'", "mode = dict(newline='')"),
            ),
            _does("edit-export", _run("check6")),
            _does(
                "export1 edit-export check6",
                _write("export2", "src/export.py", _export("mode = dict(newline='', quoting=ALL)")),
            ),
            _does("export2", _run("check7")),
            _does("check7", _run("format2", "cat docs/format.md")),
            _does("format2", _read("readme2", "README.md")),
            _does(
                "readme2 export2",
                _edit("edit-readme", "README.md", "# Ledger\n", "# Ledger, with an export\n"),
            ),
            _does("edit-readme", text="The export is there, and the checks pass."),
        ),
    ),
    (
        "Rename what groups by account to by_ledger_account, and keep the checks green.",
        (
            _does("", Move("grep2", "grep", {"pattern": "account", "path": "src"})),
            _does("grep2", _read("totals2", "src/totals.py"), _run("mark", "touch .renamed")),
            _does("totals2", _run("check8")),
            _does(
                "totals2 check8",
                _edit("rename", "src/totals.py", "def totals_3(", "def by_ledger_account("),
            ),
            _does("rename", _run("check9")),
            _does("check9", _read("report3", "src/report.py")),
            _does(
                "report3 grep2",
                _edit("use-rename", "src/report.py", "def report_3(", "def report_by_account("),
            ),
            _does("use-rename report3", _read("parse2", "src/parse.py")),
            _does(
                "parse2", _edit("rename-parse", "src/parse.py", "def parse_4(", "def parse_row(")
            ),
            _does("rename-parse", _run("check10")),
            _does("check10", text="Renamed; the checks pass."),
        ),
    ),
    (
        "Read it all once more: is anything left that the rename missed?",
        (
            _does("", *(_read(f"{name}4", f"src/{name}.py") for name in ("totals", "parse"))),
            _does(
                "totals4", *(_read(f"{name}4", f"src/{name}.py") for name in ("model", "report"))
            ),
            _does("totals4 parse4", text="Nothing is left: one definition, and one use of it."),
        ),
    ),
)
REPLIES = tuple(reply for _, replies in TURNS for reply in replies)


class StrongProvider(ScriptedProvider):
    """Gives turns the script, whatever else is asked meanwhile."""

    def __init__(self, summaries: Iterable[list[Step]] = ()) -> None:
        super().__init__([reply.steps for reply in REPLIES])
        self.turns: list[Request] = []
        self.asked: list[Request] = []
        """Requests that no turn made."""
        self._others = list(summaries)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        if json.loads(request.headers[HEADER])["request_kind"] == "turn":
            self.turns.append(request)
            source = super().stream(request)
        else:
            self.asked.append(request)
            if not self._others:
                raise RequestRejected("nothing is scripted for this")
            source = ScriptedProvider([self._others.pop(0)]).stream(request)
        async for delta in source:
            yield delta


@dataclass(frozen=True)
class Mask:
    """What was masked before a request, or by hand."""

    before: int
    """The turn request that came next, counted from 0."""
    items: frozenset[int]
    moves: frozenset[str] = field(default_factory=frozenset)
    """Whose call or result it took."""


@dataclass
class Played:
    """The session behind its last reply."""

    at: Stage
    provider: StrongProvider

    @property
    def requests(self) -> list[Request]:
        """Those of the turns, in order: request `i` was answered with `REPLIES[i]`."""
        return self.provider.turns

    def masks(self) -> Iterator[Mask]:
        owners, sent = {item.n: item.call_id or "" for item in self.at.session.items}, 0
        for data in self.at.events():
            match data:
                case RequestFinished(purpose="turn"):
                    sent += 1
                case ItemsMarked(items=items):
                    taken = frozenset(n for n, form in items if form in ("short", "masked"))
                    yield Mask(sent, taken, frozenset(owners[n] for n in taken))

    def used_by_next(self, request: int, count: int = 3) -> set[str]:
        """The moves that request `request` and those behind it rely on."""
        return {move for reply in REPLIES[request : request + count] for move in reply.uses}


async def play(
    root: Path, options: Options = OPTIONS, summaries: Iterable[list[Step]] = ()
) -> Played:
    """All of it. `summaries` answer what is asked beside the turns, in order."""
    strong_project.make(root / "work")
    provider = StrongProvider(summaries)
    options = replace(options, approvals="full")
    at = await stage(root, [], options=options, model=MODEL, provider=provider)
    for prompt, _ in TURNS:
        at.session.send(prompt)
        await at.session.idle()
    return Played(at, provider)

"""The `grep` tool: ripgrep where it is installed, else our own search."""

import asyncio
import base64
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar

from pydantic import Field

from pinfold.ports.tool import Observation, Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools import workspace
from pinfold.tools.arguments import Arguments, parse, schema, title_line
from pinfold.tools.glob import matching
from pinfold.tools.listing import files as listed
from pinfold.tools.process import RunningCommand

MAX_MATCHES = 200
MAX_BYTES = 32_000
MAX_LINE = 300
"""Characters of a line that are shown."""
MAX_OBSERVED = 50
"""Files with matches that are observed."""
TIMEOUT = 60.0
"""Seconds."""
RIPGREP = (
    "rg",
    "--json",
    "--no-config",
    "--sort=path",
    "--hidden",
    "--glob=!.git",
    "--max-filesize=10M",
)


class GrepArguments(Arguments):
    also: ClassVar = {"include": "glob", "-i": "ignore_case", "-C": "context", "-n": ""}

    pattern: str = Field(min_length=1, description="regular expression, matched line by line")
    path: str = Field(default=".", description="file or folder to search")
    glob: str = Field(default="", description="only files that match, such as *.py or src/**")
    ignore_case: bool = False
    context: int = Field(default=0, ge=0, le=20, description="lines to show around each match")


class Grep(Tool):
    schema = schema(
        "grep",
        f"Search file contents. Shows up to {MAX_MATCHES} matching lines with their numbers, by "
        "file. Files that git ignores are left out.",
        GrepArguments,
    )
    kind: ToolKind = "read"
    read_only = True
    parallel = True
    searches = True
    quiet = True

    def review(self, arguments: str, context: ToolContext) -> Review:
        given = parse(GrepArguments, arguments)
        base = workspace.resolve(given.path, context.workspace)
        title = f"grep {title_line(given.pattern, 60)} in {workspace.uri(base, context.workspace)}"
        return Review("read", title, (base,))

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        given = parse(GrepArguments, arguments)
        base = workspace.resolve(given.path, context.workspace)
        if not workspace.is_folder(base):
            workspace.require_file(base, context.workspace)
        found = _Matches(context.workspace, given.context > 0)
        try:
            async with asyncio.timeout(TIMEOUT):
                if shutil.which("rg"):
                    await _search(_ripgrep(given, base), _folder(base), found)
                else:
                    await _search_ourselves(given, base, found)
        except TimeoutError:
            found.notes.append(f"stopped after {TIMEOUT:.0f} s; narrow the path")
        notes = [f"[{note}]" for note in found.notes]
        output = "\n".join([*found.lines, *notes]) or "No match."
        seen = await asyncio.to_thread(_observations, base, found)
        return ToolOutcome(output, True, seen, {"matches": found.count})


def _observations(base: Path, found: "_Matches") -> tuple[Observation, ...]:
    """The folder and its files with matches; or the one file that was named, matches or not."""
    root, files, seen = found.workspace, [base], []
    if workspace.is_folder(base):
        files = found.files[:MAX_OBSERVED]
        seen.append(Observation(workspace.uri(base, root), "file", "list"))
    for path in files:
        with suppress(ToolError):  # it may be gone by now
            hashed = workspace.hash_file(path)
            seen.append(Observation(workspace.uri(path, root), "file", "read", hashed))
    return tuple(seen)


@dataclass(slots=True)
class _Matches:
    """The output so far."""

    workspace: Path
    groups: bool
    """Whether lines come with others around them, and groups of them need a mark between."""
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    """Those with matches."""
    count: int = 0
    size: int = 0
    last: int = 0
    """The number of the last line shown of the current file."""

    def take(self, message: dict[str, Any]) -> bool:
        """Add a message of ripgrep's; False if there is room for no more."""
        kind, data = message["type"], message["data"]
        if kind == "begin":
            path = Path(_text(data["path"]))
            self._add(("\n" if self.lines else "") + workspace.uri(path, self.workspace))
            self.last = 0
        elif kind in ("match", "context"):
            if kind == "match" and self.count == MAX_MATCHES:
                self.notes.append(f"the first {MAX_MATCHES} matches; narrow the search for others")
                return False
            number = data["line_number"]
            if self.groups and self.last and number > self.last + 1:
                self._add("--")
            line = _text(data["lines"]).rstrip("\r\n")
            cut = line if len(line) <= MAX_LINE else line[:MAX_LINE] + "…"
            self._add(f"{number}{':' if kind == 'match' else '-'}{cut}")
            self.last = number + line.count("\n")
            if kind == "match":
                self.count += 1
                path = Path(_text(data["path"]))
                if path not in self.files[-1:]:
                    self.files.append(path)
        if self.size > MAX_BYTES:
            self.notes.append(f"the first {self.count} matches; narrow the search for others")
            return False
        return True

    def _add(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line.encode(errors="replace")) + 1


def _text(value: dict[str, str]) -> str:
    """Text as ripgrep's JSON has it: plain, or base64 where it is no UTF-8."""
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode(errors="replace")


def _ripgrep(given: GrepArguments, base: Path) -> list[str]:
    argv = [*RIPGREP, f"--context={given.context}"]
    argv += ["--ignore-case"] * given.ignore_case
    argv += [f"--glob={given.glob}"] * bool(given.glob)
    return [*argv, "--regexp", given.pattern, "--", str(base)]


async def _search_ourselves(given: GrepArguments, base: Path, found: _Matches) -> None:
    if workspace.is_folder(base):
        names = await listed(base)
        chosen = await asyncio.to_thread(matching, given.glob, names) if given.glob else names
        paths = [str(base / name) for name in chosen]
    else:
        paths = [str(base)]
    script = Path(__file__).with_name("search.py")
    argv = [sys.executable, "-I", str(script), f"--context={given.context}"]
    argv += ["--ignore-case"] * given.ignore_case
    with tempfile.TemporaryFile() as stdin:
        stdin.write("\0".join(paths).encode(errors="surrogateescape"))
        stdin.seek(0)
        await _search([*argv, "--", given.pattern], _folder(base), found, stdin)


def _folder(base: Path) -> Path:
    """The folder that a glob is relative to."""
    return base if workspace.is_folder(base) else base.parent


async def _search(
    argv: Sequence[str],
    folder: Path,
    found: _Matches,
    stdin: IO[bytes] | int = asyncio.subprocess.DEVNULL,
) -> None:
    problems: list[str] = []
    pending: list[bytes] = []
    async with RunningCommand(argv, folder, stdin=stdin) as command:
        async for chunk in command.output():
            pending.append(chunk)
            if b"\n" not in chunk:
                continue
            *lines, rest = b"".join(pending).split(b"\n")
            pending = [rest]
            for line in lines:
                if not line.startswith(b"{"):
                    problems.append(line.decode(errors="replace"))
                elif not found.take(json.loads(line)):
                    return
        code = await command.exit_code()
    if code not in (0, 1):
        problem = "\n".join(problems[:20]) or f"the search ended with code {code}"
        if not found.count:
            raise ToolError(problem)
        found.notes.append(problem)

"""The `glob` tool."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import bracex
from pydantic import Field
from wcmatch import glob

from pinfold.ports.tool import Observation, Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.tools import workspace
from pinfold.tools.arguments import Arguments, parse, schema, title_line
from pinfold.tools.listing import files

MAX_SHOWN = 500
MAX_PATTERNS = 1000
"""How many patterns the braces in one may stand for."""
FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.MATCHBASE


class GlobArguments(Arguments):
    pattern: str = Field(min_length=1, description="such as *.py, src/**/*.ts, {a,b}*.md")
    path: str = Field(default=".", description="folder to search")


class Glob(Tool):
    schema = schema(
        "glob",
        "Find files by name. A pattern without a slash matches in every folder. Files that git "
        "ignores are left out.",
        GlobArguments,
    )
    kind: ToolKind = "read"
    read_only = True
    parallel = True
    quiet = True

    def review(self, arguments: str, context: ToolContext) -> Review:
        given = parse(GlobArguments, arguments)
        base = workspace.resolve(given.path, context.workspace)
        title = f"glob {title_line(given.pattern, 60)} in {workspace.uri(base, context.workspace)}"
        return Review("read", title, (base,))

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        given = parse(GlobArguments, arguments)
        base = workspace.resolve(given.path, context.workspace)
        name = workspace.uri(base, context.workspace)
        if not workspace.is_folder(base):
            raise ToolError(f"{name} is not a folder.")
        if given.pattern.startswith(("/", "~", "../")):
            raise ToolError("The pattern is relative; give the folder as path.")
        present = await asyncio.to_thread(_present, given.pattern, base, await files(base))
        lines = [workspace.uri(path, context.workspace) for path in present[:MAX_SHOWN]]
        if len(present) > MAX_SHOWN:
            lines.append(f"[{len(present) - MAX_SHOWN} more; narrow the pattern]")
        output = "\n".join(lines) or "No file matches."
        seen = Observation(name, "file", "list")
        return ToolOutcome(output, True, (seen,), {"matches": len(present)})


def _present(pattern: str, base: Path, names: Iterable[str]) -> list[Path]:
    paths = (base / name for name in matching(pattern, names))
    # Git lists tracked files that were deleted, too.
    return [path for path in paths if workspace.exists(path)]


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that match. Raises `ToolError` for a pattern that makes too much of itself."""
    try:
        patterns = bracex.expand(pattern.removeprefix("./"), keep_escapes=True, limit=MAX_PATTERNS)
    except bracex.ExpansionLimitException as error:
        raise ToolError(f"The pattern is too wide: {error}") from error
    matcher = glob.compile(patterns, flags=FLAGS, limit=0)
    return [name for name in names if matcher.match(name)]

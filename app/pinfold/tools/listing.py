"""Which files a search looks at: what git does not ignore, or all but the usual clutter."""

import asyncio
import os
from pathlib import Path

from pinfold.ports import ToolError
from pinfold.tools.process import Command

CLUTTER = {".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"}
MAX_FILES = 200_000
GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false")
"""A repository's own configuration must not make git run a program."""


async def files(folder: Path) -> list[str]:
    """The files under a folder, as sorted posix paths relative to it; symlinks not followed."""
    found = await _git_files(folder)
    # Git lists nothing in a folder that it ignores; who names one wants to see it.
    return sorted(found or await asyncio.to_thread(_walk, folder))


async def _git_files(folder: Path) -> list[str]:
    argv = [*GIT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    chunks: list[bytes] = []
    try:
        async with Command(argv, folder, stderr=asyncio.subprocess.DEVNULL) as command:
            async for chunk in command.output():
                chunks.append(chunk)  # noqa: PERF401 - mypy knows no async list.extend
            if await command.exit_code():
                return []
    except ToolError:
        return []
    names = {os.fsdecode(name) for name in b"".join(chunks).split(b"\0") if name}
    return [name for name in names if not name.endswith("/")]


def _walk(folder: Path) -> list[str]:
    found: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in CLUTTER]
        relative = Path(parent).relative_to(folder)
        found += ((relative / name).as_posix() for name in names)
        if len(found) >= MAX_FILES:
            break
    return found[:MAX_FILES]

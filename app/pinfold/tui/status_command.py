"""The status line that the user's own command writes: `[ui] statusline`.

It gets JSON on standard input, with the names that other agents' status commands read, and prints
one line; colours (SGR) are kept.
"""

import asyncio
import shutil
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import msgspec
from rich.text import Text

from pinfold import __version__
from pinfold.ports.tool import ToolError
from pinfold.sanitize import one_line, safe
from pinfold.tools.process import output_of

if TYPE_CHECKING:
    from pinfold.agent.session import Session

TIMEOUT = 2.0
"""Seconds."""
MAX_OUTPUT = 4_096
"""Bytes that are read."""


class StatusFailed(Exception):
    """The command printed nothing that can be shown; why, in a sentence."""


def facts(session: "Session", branch: str) -> dict[str, object]:
    """What the command is told, as JSON."""
    reading = session.reading()
    folder = str(session.cwd)
    return {
        "session_id": session.id,
        "transcript_path": str(session.folder / "rollout.jsonl"),
        "cwd": folder,
        "version": __version__,
        "model": {"id": session.model.name, "display_name": session.model.name},
        "provider": session.model.provider,
        "workspace": {"current_dir": folder, "project_dir": folder},
        "branch": branch,
        "approvals": session.approvals,
        "phase": session.phase,
        "background_commands": len(session.jobs.running),
        "cost": {"total_cost_usd": reading.cost},
        "context_window": {
            "used_tokens": reading.used,
            "context_window_size": reading.limit,
            "used_percentage": round(100 * reading.used / max(1, reading.limit), 1),
        },
    }


async def line(command: str, folder: Path, told: dict[str, object]) -> Text:
    """The first line that `command` prints. Raises `StatusFailed`."""
    argv = [shutil.which("bash") or "/bin/sh", "-c", command]
    try:
        with TemporaryFile() as stdin:
            stdin.write(msgspec.json.encode(told))
            stdin.seek(0)
            async with asyncio.timeout(TIMEOUT):
                code, printed = await output_of(
                    argv, folder, MAX_OUTPUT, stdin=stdin, stderr=asyncio.subprocess.DEVNULL
                )
    except TimeoutError:
        raise StatusFailed(f"The status command took longer than {TIMEOUT:g} s.") from None
    except (ToolError, OSError) as error:
        raise StatusFailed(f"The status command could not be started: {error}") from error
    if code:
        raise StatusFailed(f"The status command ended with exit code {code}.")
    first = printed.decode(errors="replace").strip().partition("\n")[0]
    coloured = Text.from_ansi(first)
    plain = Text(one_line(coloured.plain))
    if not plain.plain:
        raise StatusFailed("The status command printed nothing.")
    return coloured if safe(coloured.plain) == coloured.plain else plain

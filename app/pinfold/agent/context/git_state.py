"""Tells the model before a turn what `git status` says, if that changed."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from pinfold.agent.context.telling import Telling, tell
from pinfold.agent.record import Record
from pinfold.paths import repository_root
from pinfold.ports.tool import Sandbox, ToolError
from pinfold.sanitize import one_line
from pinfold.tools.process import output_of

SUBJECT = "git"
# A repository's own configuration names programs: none of them is needed for this.
STATUS = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v2"]
SECONDS = 2.0
"""A repository that takes longer is asked only once."""
MAX_BYTES = 1_000_000
MAX_NAME = 100


class GitState:
    """Runs `git status` in a read-only sandbox, or without one in a trusted folder."""

    def __init__(
        self, record: Record, cwd: Path, sandbox: Callable[[], Sandbox | None], *, trusted: bool
    ) -> None:
        self._record = record
        self._cwd = cwd
        self._sandbox = sandbox
        self._trusted = trusted
        self._slow = False

    async def tell(self) -> None:
        """Raises `JournalError`."""
        sandbox = self._sandbox()
        held = sandbox is not None or self._trusted
        if self._slow or not held or repository_root(self._cwd) is None:
            return
        if said := described(await self._status(sandbox)):
            await tell(self._record, Telling(SUBJECT, said))

    async def _status(self, sandbox: Sandbox | None) -> str:
        """What git prints; nothing where it fails."""
        argv, nowhere = [*STATUS, "--branch"], asyncio.subprocess.DEVNULL
        try:
            async with asyncio.timeout(SECONDS):
                code, printed = await output_of(
                    argv, self._cwd, MAX_BYTES, stderr=nowhere, sandbox=sandbox
                )
        except TimeoutError:
            self._slow = True
            return ""
        except ToolError:
            return ""
        return "" if code else printed.decode(errors="replace")


def described(status: str) -> str:
    """`Git: on main, 2 ahead of origin/main; 3 changed, 1 untracked.`, or nothing."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for line in status.splitlines():
        match line.split(" "):
            case ["#", key, *rest]:
                names[key] = one_line(" ".join(rest))[:MAX_NAME]
            case ["1" | "2", state, *_]:
                counts["staged"] += not state.startswith(".")
                counts["changed"] += not state.endswith(".")
            case ["u", *_]:
                counts["in conflict"] += 1
            case ["?", *_]:
                counts["untracked"] += 1
    if "branch.head" not in names:
        return ""
    parts = [f"on {names['branch.head']}"]
    ahead, _, behind = names.get("branch.ab", "+0 -0").partition(" ")
    upstream = names.get("branch.upstream", "")
    parts += [f"{ahead[1:]} ahead of {upstream}"] if ahead[1:] not in ("", "0") else []
    parts += [f"{behind[1:]} behind {upstream}"] if behind[1:] not in ("", "0") else []
    files = [f"{count} {name}" for name, count in counts.items() if count]
    return f"Git: {', '.join(parts)}; {', '.join(files) or 'nothing changed'}."

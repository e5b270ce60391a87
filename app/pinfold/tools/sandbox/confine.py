"""A command in its sandbox: what is started in its place, and what it has left behind."""

import json
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO, Literal

from pinfold.ports import Sandbox
from pinfold.tools.sandbox import bubblewrap
from pinfold.tools.sandbox.places import Places, SetAside, look, set_aside, worktree
from pinfold.tools.sandbox.secrets import existing, secrets, sockets

Kind = Literal["bubblewrap", "landlock", "seatbelt"]
CACHES = {
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "npm_config_cache": "npm",
    "npm_config_store_dir": "pnpm",
    "YARN_CACHE_FOLDER": "yarn",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "DENO_DIR": "deno",
    "GOCACHE": "go",
    "CCACHE_DIR": "ccache",
    "SCCACHE_DIR": "sccache",
    "COMPOSER_CACHE_DIR": "composer",
    "PRE_COMMIT_HOME": "pre-commit",
}
"""Where package managers keep what they fetch and build; their usual folders are read-only."""
UNSET = frozenset(
    {"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "GPG_AGENT_INFO"}
)
"""Variables that lead to sockets of the machine."""
PROBE_SECONDS = 10
END_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Found:
    """What confines commands on this machine."""

    kind: Kind | None
    text: str
    """What it is, or why there is none and how to get one."""
    command: tuple[str, ...] = ()
    """What it is started by."""


@cache
def find() -> Found:
    """Try what there is. Blocking."""
    program = shutil.which("bwrap")
    if program is None:
        return Found(
            None, "bubblewrap is missing: apt install bubblewrap, or as your system has it"
        )
    problem = ""
    for command in ((program, "--disable-userns"), (program,)):
        problem = _problem([*command, *bubblewrap.CONFINED, "true"])
        if not problem:
            return Found("bubblewrap", f"bubblewrap ({program})", command)
    return Found(None, f"bubblewrap does not work here: {problem}")


def _problem(argv: Sequence[str]) -> str:
    try:
        ended = subprocess.run(argv, capture_output=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    said = ended.stderr.decode(errors="replace").strip() or f"exit code {ended.returncode}"
    return said if ended.returncode else ""


class Confined:
    """One command's sandbox, from before its start to after its end."""

    def __init__(
        self,
        sandbox: Sandbox,
        options: Sequence[str],
        argv: Sequence[str],
        env: dict[str, str],
        before: Places,
    ) -> None:
        self.env = env
        self._sandbox = sandbox
        self._options = options
        self._argv = argv
        self._before = before
        self._first: int | None = None
        """A handle on the first process inside: all others end with it."""
        self._ending = Lock()

    def argv(self, told: int) -> list[str]:
        """What to start; it writes to file descriptor `told` who runs in it."""
        return [*find().command, "--info-fd", str(told), *self._options, "--", *self._argv]

    def started(self, info: IO[bytes]) -> None:
        """Read who runs in it. Blocking."""
        with suppress(OSError, ValueError, KeyError):  # it has ended already, or never began
            self._first = os.pidfd_open(json.loads(info.read())["child-pid"])

    def end(self) -> None:
        """End all that still runs in it. Blocking."""
        with self._ending:
            first, self._first = self._first, None
            if first is None:
                return
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(first, signal.SIGKILL)
            gone = select.poll()
            gone.register(first, select.POLLIN)
            gone.poll(END_SECONDS * 1000)
            os.close(first)

    def settle(self) -> list[SetAside]:
        """Once it has ended: set guarded places aside that it made. Blocking."""
        if not self._sandbox.writes:
            return []
        return set_aside(self._before, self._sandbox.roots, self._sandbox.scratch / "set-aside")


def confine(
    sandbox: Sandbox, argv: Sequence[str], folder: Path, env: Mapping[str, str] | None
) -> Confined:
    """Get ready to run `argv` in the sandbox. Blocking. Raises `OSError`."""
    inherited = os.environ if env is None else env
    scratch = sandbox.scratch
    for name in ("tmp", "cache"):
        (scratch / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    caches = {name: str(scratch / "cache" / each) for name, each in CACHES.items()}
    inner = {name: value for name, value in inherited.items() if name not in UNSET} | caches
    inner |= {"TMPDIR": "/tmp", "PINFOLD_SANDBOX": sandbox.kind}  # noqa: S108
    places = look(sandbox.roots) if sandbox.writes else Places()
    gits = [path for root in sandbox.roots for path in worktree(root) or ()]
    hidden = secrets(inherited) | existing(sandbox.hidden) | sockets()
    extra = [*gits, scratch / "cache"]
    options = bubblewrap.arguments(sandbox, places, hidden, extra, folder)
    return Confined(sandbox, options, argv, inner, places)

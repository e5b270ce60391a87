"""A command in its sandbox: what is started in its place, and what it has left behind."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO, Literal, assert_never

from pinfold.ports.tool import Sandbox
from pinfold.tools.sandbox import bubblewrap, landlock, seatbelt
from pinfold.tools.sandbox.grants import EVERYTHING, grants
from pinfold.tools.sandbox.places import (
    GuardedPlaces,
    SetAside,
    look,
    put_back,
    remember,
    set_aside,
    worktree,
)
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
LOADED = ("LD_", "DYLD_", "GLIBC_", "GCONV_", "MALLOC_")
"""So begin variables that load code into a program, or change it, before it does anything."""
SEATBELT = "sandbox-exec (its profile is untested)"
LANDLOCK = [str(Path(sys.executable).resolve()), "-I", "-S", landlock.__file__]
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
    if sys.platform == "darwin":
        problem = _problem([seatbelt.PROGRAM, "-p", "(version 1)(allow default)", "true"])
        text = f"sandbox-exec does not work here: {problem}" if problem else SEATBELT
        return Found(None if problem else "seatbelt", text)
    missing = "bubblewrap is missing: apt install bubblewrap, or use your package manager"
    if program := shutil.which("bwrap"):
        for command in ((program, "--disable-userns"), (program,)):
            problem = _problem([*command, *bubblewrap.CONFINED, "true"])
            if not problem:
                return Found("bubblewrap", f"bubblewrap ({program})", command)
        missing = f"bubblewrap does not work here: {problem}"
    if landlock.abi() >= landlock.MIN_ABI:
        return Found("landlock", f"Landlock, which isolates less ({missing})")
    return Found(None, missing)


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
        self, sandbox: Sandbox, argv: list[str], env: dict[str, str], before: GuardedPlaces
    ) -> None:
        """`argv` is what to start. Raises `OSError`."""
        self.argv = argv
        self.env = env
        self._sandbox = sandbox
        self._take(before)
        self._first: int | None = None
        """A handle on the first process inside: all others end with it."""
        self._ending = Lock()

    @property
    def reports(self) -> bool:
        """Whether it can report the process id of the first process in it."""
        return self._sandbox.kind == "bubblewrap"

    def reporting_to(self, file: int) -> list[str]:
        """`argv`, with a file descriptor for that report."""
        return [self.argv[0], "--info-fd", str(file), *self.argv[1:]]

    def started(self, info: IO[bytes]) -> None:
        """Read the report. Blocking."""
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

    def _take(self, before: GuardedPlaces) -> None:
        self._before = before
        self._copies: dict[Path, Path] = {}
        if self._sandbox.kind == "landlock":
            self._copies = remember(before, self._sandbox.scratch / "guarded")

    def accept(self) -> None:
        """What guarded places are now was not its doing. Blocking. Raises `OSError`."""
        if self._sandbox.writes:
            self._take(look(self._sandbox.roots))

    def settle(self) -> list[SetAside]:
        """Set guarded places aside that it made or changed. Blocking."""
        if not self._sandbox.writes:
            return []
        to = self._sandbox.scratch / "set-aside"
        before, roots = self._before, self._sandbox.roots
        if self._sandbox.kind == "bubblewrap":
            return set_aside(before, roots, to)
        changed = put_back(before, self._copies, roots, to)
        return [*changed, *set_aside(before, roots, to, {*self._copies, *before.stays})]


def confine(
    sandbox: Sandbox, argv: Sequence[str], folder: Path, env: Mapping[str, str] | None
) -> Confined:
    """Get ready to run `argv` in the sandbox. Blocking. Raises `OSError`."""
    inherited = os.environ if env is None else env
    # What makes the sandbox must not obey what is meant for the command in it.
    loaded = {
        name: value
        for name, value in inherited.items()
        if name.startswith(LOADED) and value != os.environ.get(name)
    }
    if loaded:
        argv = ["env", *(f"{name}={value}" for name, value in loaded.items()), *argv]
    scratch = sandbox.scratch
    for name in ("tmp", "cache"):
        (scratch / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    places = look(sandbox.roots) if sandbox.writes else GuardedPlaces()
    gits = [path for root in sandbox.roots for path in worktree(root) or ()]
    hidden = secrets() | secrets(inherited) | existing(sandbox.hidden)
    extra = [*gits, scratch / "cache"]
    temporary = str(scratch / "tmp")
    match sandbox.kind:
        case "bubblewrap":
            temporary = "/tmp"  # noqa: S108
            options = bubblewrap.arguments(sandbox, places, hidden | sockets(), extra, folder)
            start = [*find().command, *options, "--", *_scoped(sandbox), *argv]
        case "landlock":
            spec = grants(sandbox, hidden, [*extra, scratch / "tmp"])
            start = [*LANDLOCK, json.dumps(spec), *argv]
        case "seatbelt":
            profile = seatbelt.profile(sandbox, places, hidden, [*extra, scratch / "tmp"])
            start = [seatbelt.PROGRAM, "-p", profile, *argv]
        case _:
            assert_never(sandbox.kind)
    caches = {name: str(scratch / "cache" / part) for name, part in CACHES.items()}
    inner = {
        name: value for name, value in inherited.items() if name not in UNSET and name not in loaded
    } | caches
    inner |= {"TMPDIR": temporary, "PINFOLD_SANDBOX": sandbox.kind}
    return Confined(sandbox, start, inner, places)


def _scoped(sandbox: Sandbox) -> list[str]:
    """With the machine's network come its abstract sockets, which only Landlock closes."""
    if not sandbox.network or landlock.abi() < landlock.MIN_ABI:
        return []
    return [*LANDLOCK, json.dumps(EVERYTHING)]

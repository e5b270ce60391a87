"""Compactions that are cut off, each in a process of its own that is forked from this one.

    python -m fakes.cut_compactions ROOT SESSION [HOW WHAT] ...

Each compacts a copy of the session's folder, `ROOT/HOW-WHAT`, by `checkpoint`:

- `killed` `each` makes copies `killed-0`, `killed-1` ...: the n-th process dies just before its
  n-th step to the disk, until one comes through;
- `failing` N, `dying` N: no file may get longer than the rollout and N bytes more; a write that
  passes them fails, or ends the process with half of it written;
- `locked` `session`: its folder can't be written to any more.

One more, `ROOT/whole`, comes through. Prints the name of each copy and how its process ended.
"""

import asyncio
import os
import resource
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from msgspec.structs import replace

from fakes import agent
from fakes.agent import stage
from fakes.provider import FakeClock
from pinfold.agent.options import Options
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.journal import Journal, JournalError

MODEL = replace(agent.MODEL, context_window=16_384)
OPTIONS = Options(
    approvals="full",
    auto="off",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
)
COMPACTED, REFUSED, WRONG = 0, 10, 11
"""Exit codes: it was applied; it failed and said why; it failed and the window is not as it was."""
NOBODY = 65_534
"""A user who may not do everything."""
_STEPS = frozenset(
    [
        *("open", "mkdir", "write", "flush", "fsync", "fdatasync", "replace", "rename"),
        *("link", "unlink", "rmdir"),
    ]
)
_WHERE = frozenset(["files.py", "journal.py", "pathlib.py", "blobs.py", "tempfile.py", "shutil.py"])


class Killer:
    """A profiler that ends the process before its n-th step to the disk."""

    def __init__(self, step: int) -> None:
        self._left = step
        self.armed = False

    def __call__(self, frame: FrameType, event: str, called: object) -> None:
        name = getattr(called, "__name__", "")
        if not self.armed or event != "c_call" or name not in _STEPS:
            return
        if Path(frame.f_code.co_filename).name in _WHERE:
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)
            self._left -= 1


async def compact(root: Path, folder: Path, arm: Callable[[], None]) -> int:
    """Open a session and compact it, armed as soon as the plan stands."""
    now = FakeClock().now
    at = await stage(
        root, [], options=OPTIONS, model=MODEL, journal=lambda: Journal.open(folder, now)
    )
    before = dict(at.session._record.window.forms)
    draft = await at.session.compaction.draft("checkpoint")
    arm()
    try:
        await at.session.compaction.apply(draft)
    except (OSError, JournalError) as error:
        print(f"{folder.name}: {error}", file=sys.stderr)
        return REFUSED if at.session._record.window.forms == before else WRONG
    await at.session.idle()
    return COMPACTED


def forked(act: Callable[[], int]) -> str:
    """How a process ended that did this: an exit code, or the name of a signal."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = 1
        try:
            code = act()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return str(code) if code >= 0 else signal.Signals(-code).name


def killed(root: Path, session: Path) -> None:
    step, ended = 0, "SIGKILL"
    while ended == "SIGKILL":
        folder = _copy(session, root / f"killed-{step}")
        killer = Killer(step)

        def act(folder: Path = folder, killer: Killer = killer) -> int:
            threading.setprofile(killer)
            sys.setprofile(killer)
            return asyncio.run(compact(root, folder, lambda: setattr(killer, "armed", True)))

        ended = forked(act)
        print(folder.name, ended)
        step += 1


def limited(root: Path, session: Path, how: str, more: int) -> None:
    folder = _copy(session, root / f"{how}-{more}")
    limit = (session / "rollout.jsonl").stat().st_size + more

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if how == "failing" else signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    print(folder.name, forked(lambda: asyncio.run(compact(root, folder, full))))


def locked(root: Path, session: Path, part: str) -> None:
    folder = _copy(session, root / f"locked-{part}")
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)

    def act() -> int:
        if os.geteuid() == 0:
            os.setuid(NOBODY)
        return asyncio.run(compact(root, folder, lambda: folder.chmod(0o500)))

    print(folder.name, forked(act))


def _copy(session: Path, folder: Path) -> Path:
    shutil.copytree(session, folder)
    return folder


def main(root: Path, session: Path, *wanted: str) -> None:
    # In this process first: what it imports, the others have.
    asyncio.run(compact(root, _copy(session, root / "whole"), lambda: None))
    for how, what in zip(wanted[::2], wanted[1::2], strict=True):
        match how:
            case "killed":
                killed(root, session)
            case "locked":
                locked(root, session, what)
            case _:
                limited(root, session, how, int(what))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])

"""Runs a command, and ends all that it has started once the other end of a pipe is closed.

That happens when whoever holds it ends, also by SIGKILL. Run as a script:
`watcher.py FD COMMAND...`, FD being the end that is read. With `FD+` what has left the command's
process group may outlive the command, as a daemon does. It imports nothing of ours.
"""

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

GRACE = 0.3
"""Seconds between SIGTERM and SIGKILL."""
_DEATH_SIGNAL, _DUMPABLE, _SUBREAPER = 1, 4, 36
_MOST_FILES = 1 << 16
_RESTORED = (signal.SIGPIPE, signal.SIGXFSZ)
"""What Python ignores, and commands should not."""


def _control(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _start(argv: list[str]) -> int:
    leader = os.fork()
    if leader:
        return leader
    try:
        for number in _RESTORED:
            signal.signal(number, signal.SIG_DFL)
        _control(_DEATH_SIGNAL, signal.SIGKILL)  # somebody may kill the watcher itself
        os.execvp(argv[0], argv)  # noqa: S606
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", flush=True)
    os._exit(127)


def _close_all_but(*kept: int) -> None:
    """Close the files that were meant for the command."""
    first = 3
    for file in (*sorted(kept), _MOST_FILES):
        os.closerange(first, file)
        first = file + 1


def _reap(codes: dict[int, int]) -> bool:
    """Note the exit codes of children that have ended; whether there are any left."""
    try:
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return True
            codes[child] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return False


def _signal_children(number: int) -> bool:
    """Whether there were any that the system lists."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123
            children = [int(word) for word in file.read().split()]
    except OSError:
        return False
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, number)
    return bool(children)


def _end_all() -> None:
    """On Linux orphans become our children, so that none is left once we have no children."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    _signal_children(signal.SIGTERM)
    codes: dict[int, int] = {}
    until = time.monotonic() + GRACE
    while _reap(codes) and time.monotonic() < until:
        time.sleep(0.01)
    while _signal_children(signal.SIGKILL):
        os.wait()
    if _reap(codes):
        os.killpg(0, signal.SIGKILL)


def main() -> int:
    held, spares = int(sys.argv[1].rstrip("+")), sys.argv[1].endswith("+")
    os.set_inheritable(held, False)
    _control(_SUBREAPER, 1)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    leader = _start(sys.argv[2:])
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _close_all_but(held, woken, wake)
    codes: dict[int, int] = {}
    while leader not in codes:
        ready, _, _ = select.select([held, woken], [], [])
        if held in ready or signal.SIGTERM in os.read(woken, 64):
            _end_all()
            return 128 + signal.SIGTERM
        _reap(codes)
    code = codes[leader]
    if spares:
        return _end_like(code)
    _end_all()
    return code if code >= 0 else 128 - code


def _end_like(code: int) -> int:
    """End as the command did: by its signal, where it was one."""
    if code < 0:
        _control(_DUMPABLE, 0)
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main())

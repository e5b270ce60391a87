"""Runs the hook so that its host never notices a failure: whatever happens, the exit code is 0, the
answer is whole or empty, and it takes at most two seconds.

A child process does the work, and may run out of memory or hang. This process only waits, and
imports nothing that could fail.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable

PATIENCE = 1.8
"""Seconds for the answer; Python needs some before that."""
LOG = "hook.log"
_MOST_LOG = 100_000
"""A log of more bytes is emptied."""

Work = Callable[[], str]


def run(work: Work, patience: float | None = None) -> int:
    """Print what `work` returns. A failure is a line in the log."""
    try:
        answer, why = _answered(work, PATIENCE if patience is None else patience)
        if answer:
            _write_all(1, answer)
    except BaseException as error:
        why = _error_text(error)
    if why:
        with contextlib.suppress(BaseException):
            _log(why)
    return 0


def _answered(work: Work, patience: float) -> tuple[bytes, str]:
    """The whole answer, or nothing and why."""
    until = time.monotonic() + patience
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, writer)
    os.close(writer)
    parts: list[bytes] = []
    try:
        while select.select([reader], [], [], max(0.0, until - time.monotonic()))[0]:
            part = os.read(reader, 65_536)
            if not part:
                said = b"".join(parts).decode(errors="replace")
                return (
                    (said[1:].encode(), "") if said[:1] == "+" else (b"", said[1:] or "It crashed.")
                )
            parts.append(part)
        return b"", f"It took more than {patience} seconds."
    finally:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _work(work: Work, writer: int) -> None:
    """In the child: writes the answer after a `+`, or why there is none after a `-`."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        try:
            said = f"+{work()}"
        except BaseException as error:
            said = f"-{_error_text(error)}"
        _write_all(writer, said.encode(errors="replace"))
    finally:
        os._exit(0)


def _write_all(fd: int, content: bytes) -> None:
    while content:
        content = content[os.write(fd, content) :]


def _error_text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _log(why: str) -> None:
    from datetime import UTC, datetime

    from pinfold import paths
    from pinfold.sanitize import one_line

    home = paths.home()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(home / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(fd, "ab") as file:
        if file.tell() > _MOST_LOG:
            file.truncate(0)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        file.write(f"{at} {one_line(why)[:1_000]}\n".encode())

"""What another program gives on standard input."""

import os
import select
import stat
import sys

from pinfold.host.app_context import WrongUse
from pinfold.sanitize import one_line

PATIENCE = 2.0
"""Seconds of silence before it is told what is waited for."""


def read() -> str:
    """All of it, to its end; bytes that are no UTF-8 are replaced."""
    if not select.select([sys.stdin], [], [], PATIENCE)[0]:
        print("Reading standard input to the end; `</dev/null` gives none.", file=sys.stderr)
    return sys.stdin.buffer.read().decode(errors="replace")


def agreed(question: str) -> bool:
    """Whether the user says yes. The question goes where no program reads: standard error."""
    print(f"{one_line(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        print(file=sys.stderr)
        return False


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether the user agrees, or did with `--yes`. Raises `WrongUse` where nobody can answer."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise WrongUse("it asks first: use --yes when nobody can answer")
    return agreed(question)


def is_given() -> bool:
    """Whether it is a pipe or a file, and no terminal, socket or `/dev/null`."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except OSError:  # a program that calls this one in its own process has put something else there
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)

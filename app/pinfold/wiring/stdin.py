"""Reads standard input: pipes, and answers of the user."""

import os
import select
import stat
import sys

from pinfold.host.app_context import WrongUse
from pinfold.sanitize import one_line

PATIENCE = 2.0
"""Seconds of silence before a hint is printed."""


def read() -> str:
    """Read all of it; bytes that are not UTF-8 are replaced."""
    if not select.select([sys.stdin], [], [], PATIENCE)[0]:
        print("Reading standard input to the end; `</dev/null` gives none.", file=sys.stderr)
    return sys.stdin.buffer.read().decode(errors="replace")


def agreed(question: str) -> bool:
    """Ask on standard error; whether the user says yes."""
    print(f"{one_line(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        print(file=sys.stderr)
        return False


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether the user agrees, or used `--yes`. Raises `WrongUse` when nobody can answer."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise WrongUse("this asks first: use --yes when nobody can answer")
    return agreed(question)


def is_given() -> bool:
    """Whether it is a pipe or a file: not a terminal, socket or `/dev/null`."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except OSError:  # replaced by a program that runs this one in its own process
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)

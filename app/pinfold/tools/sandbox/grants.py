"""What Landlock allows: it has no exceptions, so everything but what is hidden is listed."""

from collections.abc import Iterable
from pathlib import Path

from pinfold.ports.tool import Sandbox
from pinfold.tools.sandbox.landlock import Spec
from pinfold.tools.workspace import scanned

CLOSED = [Path(name) for name in ("/tmp", "/var/tmp", "/run", "/dev")]  # noqa: S108
DEVICES = [
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"),
    *("/dev/ptmx", "/dev/pts"),
]
NEEDED = ["/run/current-system", "/run/opengl-driver", "/run/systemd/resolve"]
EVERYTHING = Spec(read=[], listed=[], write=["/"], network=True)
"""For abstract sockets and signals alone."""


def grants(sandbox: Sandbox, hidden: Iterable[Path], extra: Iterable[Path]) -> Spec:
    """The folders and files; `extra` is writable besides the roots."""
    closed = {*hidden, *CLOSED}
    roots = [str(root) for root in sandbox.roots]
    closed -= set(sandbox.roots)
    read, listed = _open(closed)
    inner = [path for path in closed if any(map(path.is_relative_to, sandbox.roots))]
    writable = roots
    if inner:  # what is hidden in a root can only be kept out of reach by listing the rest
        writable = [path for path in read if any(map(Path(path).is_relative_to, sandbox.roots))]
    readable = [str(path) for path in sandbox.readable]
    write = DEVICES
    if sandbox.writes:
        write = [*writable, *map(str, extra), *DEVICES]
    else:
        readable += writable
    return Spec(
        read=[*read, *readable, *NEEDED], listed=listed, write=write, network=sandbox.network
    )


def _open(closed: set[Path]) -> tuple[list[str], list[str]]:
    """The outermost files and folders that hold nothing closed, and the folders around those."""
    around = {parent for path in closed for parent in path.parents}
    found: list[str] = []
    for folder in around:
        there = [Path(entry.path) for entry in scanned(folder) if not entry.is_symlink()]
        found += [str(path) for path in there if path not in closed and path not in around]
    return found, [str(folder) for folder in around]

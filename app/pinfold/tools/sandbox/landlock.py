"""The sandbox where bubblewrap does not work: Landlock and seccomp.

Run as a script: `landlock.py SPEC COMMAND...`, SPEC as JSON with the fields of `Spec`. It imports
nothing of ours, and no more than it needs. `watcher.py` ends what the command leaves behind.
"""

import ctypes
import json
import os
import signal
import struct
import sys
from typing import TypedDict

MIN_ABI = 6
"""Linux 6.12: before, signals and abstract sockets reach out of it."""
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR, _EXECUTE = 1 << 2, 1 << 3, 1 << 0
_READ = _READ_FILE | _READ_DIR | _EXECUTE
_ALL = (1 << 16) - 1
_FILE = _READ_FILE | _EXECUTE | 1 << 1 | 1 << 14 | 1 << 15
"""What can be done to a file rather than to a folder."""
_TCP, _SCOPED = 3, 3
_ARCHITECTURES = {"x86_64": (0xC000003E, 41, 42), "aarch64": (0xC00000B7, 198, 203)}
"""By machine: the number of the architecture, of socket and of connect."""
_IO_URING = 425
_AF_UNIX = 1
_NO_NEW_PRIVILEGES, _SECCOMP, _DROP = 38, 22, 24
_CAPABILITIES = 64

libc = ctypes.CDLL(None, use_errno=True)


class Spec(TypedDict):
    """What a command may do."""

    read: list[str]
    """Files and folders."""
    listed: list[str]
    """Folders whose names alone may be read."""
    write: list[str]
    network: bool


def abi() -> int:
    """The version of Landlock; 0 where there is none, or where we don't know the machine."""
    if not sys.platform.startswith("linux") or os.uname().machine not in _ARCHITECTURES:
        return 0
    return max(0, int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), 1)))


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def restrict(spec: Spec) -> None:
    """Confine this process and all that it starts, for good. Raises `OSError`."""
    attributes = struct.pack("QQQ", _ALL, 0 if spec["network"] else _TCP, _SCOPED)
    ruleset = _check(libc.syscall(_CREATE, attributes, len(attributes), 0), "landlock")
    for paths, rights in (
        (spec["listed"], _READ_DIR),
        (spec["read"], _READ),
        (spec["write"], _ALL),
    ):
        for path in paths:
            _grant(ruleset, path, rights)
    for capability in range(_CAPABILITIES):
        libc.prctl(_DROP, capability, 0, 0, 0)
    libc.capset(struct.pack("II", 0x20080522, 0), bytes(24))
    _check(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no new privileges")
    _check(libc.syscall(_RESTRICT, ruleset, 0), "landlock")
    os.close(ruleset)
    if not spec["network"]:
        _close_sockets()


def _grant(ruleset: int, path: str, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = rights if os.path.isdir(path) else rights & _FILE  # noqa: PTH112
        libc.syscall(_ADD, ruleset, 1, struct.pack("=Qi", allowed, opened), 0)
    finally:
        os.close(opened)


def _close_sockets() -> None:
    """No socket but of this machine's own kind, and none that connects to another program's."""
    machine, socket, connect = _ARCHITECTURES[os.uname().machine]
    allow, deny, kill = 0x7FFF0000, 0x00050000 | 1, 0x80000000
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    program = [
        (load, 0, 0, 4),
        (equal, 1, 0, machine),
        (give, 0, 0, kill),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),  # system calls of x32
        (give, 0, 0, kill),
        (equal, 0, 1, connect),
        (give, 0, 0, deny),
        (equal, 0, 1, _IO_URING),
        (give, 0, 0, deny),
        (equal, 0, 3, socket),
        (load, 0, 0, 16),
        (equal, 1, 0, _AF_UNIX),
        (give, 0, 0, deny),
        (give, 0, 0, allow),
    ]
    code = b"".join(struct.pack("HBBI", *pair) for pair in program)
    buffer = ctypes.create_string_buffer(code)
    packed = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    _check(libc.prctl(_SECCOMP, 2, packed, 0, 0), "seccomp")


def main() -> None:
    try:
        restrict(json.loads(sys.argv[1]))
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606
    except OSError as error:
        print(f"sandbox: {error}", file=sys.stderr, flush=True)
        sys.exit(126)


if __name__ == "__main__":
    main()

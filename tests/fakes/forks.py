"""Begins processes of `pinfold` with all modules loaded: importing takes most of their time.

Run as a program, with the number of a socket: a request is a length, then JSON (`arguments`, `env`,
`folder`), with four open files: standard input, output and error, and a pipe that is told the
number of the process and, when it has ended, its status.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import struct
import sys
from contextlib import suppress

LATE = ("anyio._backends._asyncio", "httpcore2", "httpx2", "pydantic", "sqlalchemy")
"""Libraries that pinfold imports where it needs them."""
OF_SCREENS = ("pinfold.tui", "pinfold.__main__")


def load() -> None:
    import pinfold

    for module in pkgutil.walk_packages(pinfold.__path__, "pinfold."):
        if not module.name.startswith(OF_SCREENS):
            importlib.import_module(module.name)
    for name in LATE:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def begin(arguments: list[str], env: dict[str, str], folder: str, files: list[int]) -> None:
    """Become `pinfold`, watched by a process of its own."""
    told = files.pop()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if pid := os.fork():
        for file in files:
            os.close(file)
        with suppress(BrokenPipeError):
            os.write(told, f"{pid}\n".encode())
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            os.write(told, f"{status}\n".encode())
        os._exit(0)
    os.close(told)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    from pinfold import __main__ as program

    sys.argv = [str(program.__file__), *arguments]
    raise SystemExit(program.main(arguments))


def serve(requests: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load()
    while True:
        data, files, *_ = socket.recv_fds(requests, 4, 4)
        if not data:
            return
        (length,) = struct.unpack("!I", data)
        request = requests.recv(length, socket.MSG_WAITALL)
        if not os.fork():
            requests.close()
            begin(files=files, **json.loads(request))
        for file in files:
            os.close(file)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

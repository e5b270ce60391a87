"""The real `pinfold` with a home of its own, in this process or in one of its own."""

import asyncio
import io
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

from fakes import forks
from pinfold.__main__ import main


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead but not yet reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:  # it is gone by now, or there is no such file system
        return not stat.parent.parent.exists()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


class Pinfold:
    """Runs commands in `root/work`, with its home and config under `root`.

    The cache, which may vanish at any time, is shared by all whose roots lie side by side.
    """

    def __init__(self, root: Path, *, fresh: bool = False, **env: str) -> None:
        """Where it is `fresh`, each process has an interpreter of its own, which imports all."""
        self._fresh = fresh or any(name.startswith("PYTHON") for name in env)
        self.work = root / "work"
        self.home = root / "home"
        self.config = root / "config"
        self.work.mkdir(exist_ok=True)
        keep = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ")
        self.env = {name: os.environ[name] for name in keep if name in os.environ}
        self.env |= {
            "HOME": str(root),
            "PINFOLD_HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.config),
            "XDG_CACHE_HOME": str(root.parent / "cache"),
            **env,
        }

    async def start(
        self, *arguments: str, stdin: bytes | None = None, closed: Iterable[int] = ()
    ) -> "asyncio.subprocess.Process | Fork":
        """`closed` are file descriptors that it begins without."""
        if not self._fresh and not closed:
            return await Fork.begin(arguments, self.env, self.work, stdin)
        closing = " ".join(f"{number}>&-" for number in closed)
        process = await asyncio.create_subprocess_exec(
            *(("sh", "-c", f'exec "$@" {closing}', "sh") if closing else ()),
            sys.executable,
            "-m",
            "pinfold",
            *arguments,
            cwd=self.work,
            env=self.env,
            stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        if stdin is not None and process.stdin is not None:
            process.stdin.write(stdin)
            process.stdin.close()
        return process

    async def run(
        self, *arguments: str, stdin: bytes | None = None, closed: Iterable[int] = ()
    ) -> Ended:
        """To its end: in a thread of this process, where none of its own is needed."""
        if not self._fresh and not closed:
            with _ignored_signals():
                return await asyncio.to_thread(self._run_here, arguments, stdin)
        process = await self.start(*arguments, stdin=stdin, closed=closed)
        out, err = await process.communicate()
        assert process.returncode is not None
        return Ended(process.returncode, out.decode(), err.decode())

    def _run_here(self, arguments: Iterable[str], stdin: bytes | None) -> Ended:
        given = _pipe(stdin) if stdin is not None else os.open(os.devnull, os.O_RDONLY)
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with (
            os.fdopen(given, encoding="utf-8") as file,
            patch.multiple(sys, stdin=file, stdout=out, stderr=err, argv=["__main__.py"]),
            patch.dict(os.environ, self.env, clear=True),
            chdir(self.work),
        ):
            code = main(list(arguments))
        return Ended(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))

    def rollouts(self) -> list[Path]:
        return sorted(self.home.glob("sessions/*/*/*/*/rollout.jsonl"))

    @staticmethod
    def on(server_url: str) -> dict[str, str]:
        """The environment that points at a server."""
        return {
            "OPENAI_BASE_URL": server_url,
            "OPENAI_API_KEY": "sk-test",
            "PINFOLD_MODEL__NAME": "scripted-1",
            "PINFOLD_MODEL__CONTEXT_WINDOW": "8192",
        }


class Fork:
    """A process begun by `forks`; what is used of `asyncio.subprocess.Process`."""

    def __init__(self, pid: int, files: list[asyncio.StreamReader]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout, self.stderr, self._told = files

    @classmethod
    async def begin(
        cls, arguments: Iterable[str], env: dict[str, str], folder: Path, stdin: bytes | None
    ) -> "Fork":
        given = _pipe(stdin) if stdin is not None else os.open(os.devnull, os.O_RDONLY)
        pipes = [os.pipe() for _ in range(3)]
        request = {"arguments": list(arguments), "env": env, "folder": str(folder)}
        data = json.dumps(request).encode()
        files = [given, *(end for _, end in pipes)]
        socket.send_fds(_server(), [struct.pack("!I", len(data))], files)
        _server().sendall(data)
        for file in files:
            os.close(file)
        readers = [await _reader(end) for end, _ in pipes]
        return cls(int(await readers[2].readline()), readers)

    async def wait(self) -> int:
        if self.returncode is None:
            self.returncode = int(await self._told.readline())
        return self.returncode

    async def communicate(self) -> tuple[bytes, bytes]:
        out, err, _ = await asyncio.gather(self.stdout.read(), self.stderr.read(), self.wait())
        return out, err

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@contextmanager
def _ignored_signals() -> Iterator[None]:
    """No thread but the first can handle them."""
    handlers = {
        number: signal.signal(number, signal.SIG_IGN)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _pipe(data: bytes) -> int:
    """The end to read, into which `data` goes."""
    given, feed = os.pipe()
    threading.Thread(target=_feed, args=(feed, data), daemon=True).start()
    return given


@cache
def _server() -> socket.socket:
    """One for all tests of this worker; it ends with it."""
    own, its = socket.socketpair()
    subprocess.Popen(
        [sys.executable, "-P", forks.__file__, str(its.fileno())], pass_fds=[its.fileno()]
    )
    its.close()
    return own


def _feed(pipe: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as file:
        file.write(data)


async def _reader(pipe: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    file = os.fdopen(pipe, "rb")
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), file
    )
    return reader

"""The real `pinfold` with a home of its own, in this process or in one of its own."""

import asyncio
import io
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, chdir, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fakes.openai_server import FakeOpenAI, Recorded, Reply
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
        """Where it is `fresh`, what is run has a process of its own, too."""
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
        self, *arguments: str, closed: Iterable[int] = ()
    ) -> asyncio.subprocess.Process:
        """A process of its own. `closed` are file descriptors that it begins without."""
        closing = " ".join(f"{number}>&-" for number in closed)
        return await asyncio.create_subprocess_exec(
            *(("sh", "-c", f'exec "$@" {closing}', "sh") if closing else ()),
            sys.executable,
            "-m",
            "pinfold",
            *arguments,
            cwd=self.work,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(
        self, *arguments: str, stdin: bytes | None = None, closed: Iterable[int] = ()
    ) -> Ended:
        """To its end: in a thread of this process, where none of its own is needed."""
        if not self._fresh and not closed:
            with _ignored_signals():
                return await asyncio.to_thread(self._run_here, arguments, stdin)
        process = await self.start(*arguments, closed=closed)
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


@asynccontextmanager
async def on_server(
    root: Path,
    script: Iterable[Reply] = (),
    *,
    answer: Callable[[Recorded], Reply | None] | None = None,
    pages: Mapping[str, Any] | None = None,
    **env: str,
) -> AsyncIterator[tuple[FakeOpenAI, Pinfold]]:
    """A scripted server, and `pinfold` with the environment that points at it."""
    async with FakeOpenAI(script, answer=answer, pages=pages) as server:
        yield server, Pinfold(root, **Pinfold.on(server.url), **env)


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


def _feed(pipe: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as file:
        file.write(data)

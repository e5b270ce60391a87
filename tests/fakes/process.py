"""The real `pinfold`, as a process of its own with a home of its own."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


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

    def __init__(self, root: Path, **env: str) -> None:
        self.work = root / "work"
        self.home = root / "home"
        self.config = root / "config"
        self.work.mkdir(exist_ok=True)
        keep = ("PATH", "LANG", "LC_ALL", "TMPDIR")
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
    ) -> asyncio.subprocess.Process:
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
        """`closed` are file descriptors that it begins without."""
        process = await self.start(*arguments, stdin=stdin, closed=closed)
        out, err = await process.communicate()
        assert process.returncode is not None
        return Ended(process.returncode, out.decode(), err.decode())

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

"""What the sandbox costs a command that does nothing."""

import asyncio
import statistics
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure
from pinfold.ports.tool import Sandbox
from pinfold.tools.process import RunningCommand
from pinfold.tools.sandbox.confine import Kind, find

ROUNDS = 60
LARGEST = 15.0
"""Milliseconds more than without."""


async def _timed(sandbox: Sandbox | None, folder: Path) -> float:
    began = time.perf_counter()
    async with RunningCommand(["/bin/true"], folder, sandbox=sandbox) as command:
        await command.exit_code()
    return (time.perf_counter() - began) * 1000


async def _rounds(sandbox: Sandbox, folder: Path) -> tuple[list[float], list[float]]:
    bare, confined = [], []
    for _ in range(ROUNDS):
        bare.append(await _timed(None, folder))
        confined.append(await _timed(sandbox, folder))
    return bare, confined


def _measured(kind: Kind, files: int) -> tuple[float, float]:
    """The medians without a sandbox and in it."""
    with TemporaryDirectory(dir=Path.home()) as place:
        work = Path(place, "work").resolve()
        for n in range(files):
            path = work / f"{n // 20}" / f"{n}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        subprocess.run(["git", "init", "-q", str(work)], check=True)
        bare, confined = asyncio.run(_rounds(Sandbox(kind, (work,), Path(place, "scratch")), work))
    return statistics.median(bare), statistics.median(confined)


def run() -> Iterable[Figure]:
    kind = find().kind
    if kind is None:
        return
    for files, target in ((20, LARGEST), (2_000, None)):
        without, within = _measured(kind, files)
        name = f"`true` in a workspace of {files:,} files, p50"
        yield Figure(name, within, "ms", without, "without a sandbox")
        yield Figure(f"more than without, {files:,} files", within - without, "ms", target=target)

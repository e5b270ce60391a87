"""Many sessions: digests of 100,000 made-up ones, and what processes and a cluster make of 1,000.

The sessions are those of `made_up.py`, 15 KB each on average. Each figure is of a whole command.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from benchmarks import made_up
from benchmarks.bench_memory_kept import SESSIONS
from benchmarks.figures import Figure

COUNTS = (1_000, 10_000, 100_000)
"""Sessions of the curve, all measured; none is extrapolated."""
ENGINES = {
    "1 process": [],
    "2 processes": ["--jobs", "2"],
    "2 workers of a local cluster": ["--cluster", "local", "--jobs", "2"],
}
PINFOLD = str(Path(sys.executable).with_name("pinfold"))


class Ran(Struct, frozen=True):
    seconds: float
    megabytes: float
    """At most, of the largest of its processes."""
    output: str
    """The hash of its standard output."""


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        yield from _engines(folder)
        yield from _commands(folder)
        yield from _curve(folder)


def _engines(folder: Path) -> Iterator[Figure]:
    """The same digests on each engine."""
    home = _home(folder, 1_000)
    kinds = {"1,000 sessions": home}
    if SESSIONS.is_dir():
        kinds["27 recorded sessions, 41 MB"] = SESSIONS
    for name, sessions in kinds.items():
        alone = 0.0
        digests: set[str] = set()
        for engine, options in ENGINES.items():
            ran = _ran(folder, "digest", str(sessions), *options)
            alone = alone or ran.seconds
            digests.add(ran.output)
            yield Figure(f"digest, {name}, {engine}", ran.seconds, "s", alone, "1 process")
        yield Figure(f"digest, {name}, different outputs", len(digests), "", target=1)


def _commands(folder: Path) -> Iterator[Figure]:
    home = _home(folder, 1_000)
    out = str(folder / "out")
    commands = {
        "eval": ["eval", str(home), "--budget", "2000", "--json"],
        "export to Markdown": ["export", str(home), "-f", "md", "--out", out],
    }
    for name, command in commands.items():
        ran = _ran(folder, *command, "--jobs", "2")
        yield Figure(f"{name}, 1,000 sessions, 2 processes", ran.seconds, "s")
        again = _ran(folder, *command, "--jobs", "2", keep=True)
        yield Figure(f"{name}, again", again.seconds, "s", ran.seconds, "the first time")


def _curve(folder: Path) -> Iterator[Figure]:
    """Digests in two processes, by how many there are."""
    for count in COUNTS:
        home = _home(folder, count)
        ran = _ran(folder, "digest", str(home), "--jobs", "2")
        name = f"digest, {count:,} sessions, 2 processes"
        yield Figure(name, ran.seconds, "s")
        yield Figure(f"{name}, each", 1_000 * ran.seconds / count, "ms")
        yield Figure(f"{name}, memory of the largest", ran.megabytes, "MB")
        kept = sum(path.stat().st_size for path in (folder / "cache").rglob("results.db*"))
        yield Figure(f"{name}, kept results", kept / 1e6, "MB")
        again = _ran(folder, "digest", str(home), "--jobs", "2", keep=True)
        yield Figure(f"{name}, again", again.seconds, "s", ran.seconds, "the first time")


def _home(folder: Path, count: int) -> Path:
    """A home with so many sessions; those that are there stay."""
    there = sum(1 for _ in (folder / "home").rglob("rollout.jsonl"))
    for _ in made_up.write(folder / "home", max(0, count - there), first=there):
        pass
    return folder / "home" / "sessions"


def _ran(folder: Path, *command: str, keep: bool = False) -> Ran:
    """What a command takes, with nothing kept of earlier ones unless `keep`."""
    if not keep:
        for result in (folder / "cache").rglob("results.db*"):
            result.unlink()
        shutil.rmtree(folder / "out", ignore_errors=True)
    folders = {"PINFOLD_HOME": "pinfold", "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config"}
    env = {**os.environ, **{name: str(folder / part) for name, part in folders.items()}}
    with (folder / "output").open("wb") as output, (folder / "told").open("wb") as told:
        began = time.perf_counter()
        process = subprocess.Popen([PINFOLD, *command], stdout=output, stderr=told, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (folder / "told").read_text()
    with (folder / "output").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return Ran(seconds, usage.ru_maxrss / 1024, digest.hexdigest())

"""Start-up: the version, the first paint, memory at rest."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.terminal import Terminal, cpu_seconds

ROUNDS = 7
"""Runs of each program, in turns, of which the median counts."""
PINFOLD = [str(Path(sys.executable).with_name("pinfold"))]
MINIMAL = [sys.executable, "-m", "benchmarks.minimal_app"]
PLACEHOLDER = "❯"
"""Words that the empty prompt shows."""
AT_REST = 5.0
"""Seconds after the first letter at which memory is read."""


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds that a program took."""

    wall: float
    cpu: float


def run() -> Iterator[Figure]:
    yield from version()
    yield from screen()


def version() -> Iterator[Figure]:
    """`pinfold --version`, against an interpreter that does nothing."""
    bare: list[Start] = []
    told: list[Start] = []
    for _ in range(ROUNDS):
        bare.append(started([sys.executable, "-c", "pass"]))
        told.append(started([*PINFOLD, "--version"]))
    for clock in ("cpu", "wall"):
        yield Figure(
            f"`pinfold --version`, {clock}",
            1000 * median(getattr(start, clock) for start in told),
            "ms",
            1000 * median(getattr(start, clock) for start in bare),
            "bare python",
            2.5,
        )


def screen() -> Iterator[Figure]:
    """The first paint, against a minimal Textual app, and the time and memory of a first letter."""
    minimal: list[Start] = []
    pinfold: list[Start] = []
    letters: list[float] = []
    memory: list[float] = []
    for _ in range(ROUNDS):
        minimal.append(painted(MINIMAL, "ready"))
        pinfold.append(painted(PINFOLD, PLACEHOLDER))
    for _ in range(3):
        letter, mebibytes = typed()
        letters.append(letter)
        memory.append(mebibytes)
    for clock, target in (("cpu", 1.35), ("wall", None)):
        yield Figure(
            f"first paint, {clock}",
            1000 * median(getattr(start, clock) for start in pinfold),
            "ms",
            1000 * median(getattr(start, clock) for start in minimal),
            "a minimal Textual app",
            target,
        )
    yield Figure("a typed letter shows", median(letters), "s", target=0.7)
    yield Figure("memory before the first request (PSS)", median(memory), "MiB", target=100)


def started(command: Sequence[str]) -> Start:
    """Run a program to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    cpu = cpu_seconds(process)
    return Start(time.perf_counter() - began, cpu)


def painted(command: Sequence[str], words: str) -> Start:
    """Run a program until it has painted `words`."""
    with fresh(command) as terminal:
        wall = terminal.wait_for(words)
        return Start(wall, terminal.stop())


def typed() -> tuple[float, float]:
    """Seconds from the start of pinfold to a letter on its screen, and MiB at rest."""
    with fresh(PINFOLD) as terminal:
        terminal.wait_for(PLACEHOLDER)
        terminal.send("Q")
        shown = terminal.wait_for("Q")
        terminal.drain(AT_REST)
        return shown, terminal.memory()


@contextmanager
def fresh(command: Sequence[str]) -> Iterator[Terminal]:
    """A program on a terminal, with a home of its own and the embedded model."""
    with tempfile.TemporaryDirectory() as home:
        env = {"PINFOLD_HOME": home, "XDG_CONFIG_HOME": home, "PINFOLD_MODEL__PROVIDER": "embedded"}
        with Terminal(command, env) as terminal:
            yield terminal

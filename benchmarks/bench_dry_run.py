"""`pinfold compact FILE --dry-run`: from the command to its end, on a session of 5,000 items."""

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import median, quantiles

from benchmarks.bench_compaction import SIZES, working
from benchmarks.bench_resume import write
from benchmarks.bench_start import PINFOLD, started
from benchmarks.figures import Figure
from pinfold.rollout.events import ModelChanged

RUNS = 11
MODEL = ModelChanged(provider="p", model="m", context_window=1_300_000, window_source="config")


def run() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as root:
        for name, (lines, _) in SIZES.items():
            folder = Path(root) / name
            _, *told = working(lines)
            write(folder, [MODEL, *told])
            command = [*PINFOLD, "compact", str(folder / "rollout.jsonl"), "--dry-run"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # it does what is timed
            took = [started(command) for _ in range(RUNS)]
            bare = median(started([sys.executable, "-c", "pass"]).wall for _ in range(RUNS)) * 1e3
            walls = [start.wall * 1e3 for start in took]
            yield Figure(f"dry run, {name}, p50", median(walls), "ms", bare, "bare python")
            yield Figure(f"dry run, {name}, p95", quantiles(walls, n=20)[-1], "ms")
            cpu = median(start.cpu for start in took) * 1e3
            yield Figure(f"dry run, {name}, CPU", cpu, "ms CPU")

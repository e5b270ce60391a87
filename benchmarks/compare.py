"""`python -m benchmarks.compare REV [NAME ...]`: what the changes since a revision did.

Both trees are measured in turns, on the same machine and libraries; each by its own benchmarks.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
ROUNDS = 3
NOISE = 0.05
"""A change smaller than this is none, however alike the rounds were."""
CODE = """
import importlib, json, os, sys
sys.path.insert(0, os.getcwd())
os.environ.setdefault("TEXTUAL_FPS", "250")
for figure in importlib.import_module(f"benchmarks.{sys.argv[1]}").run():
    print(json.dumps([figure.name, figure.value, figure.unit]), file=sys.stderr)
"""
"""Runs one benchmark of the tree that it is started in; older ones have no command for that."""

Runs = Mapping[str, Sequence[float]]
"""The values of each figure, one a round."""


@dataclass(frozen=True, slots=True)
class Change:
    """A figure before and after."""

    name: str
    unit: str
    before: Sequence[float]
    after: Sequence[float]

    @property
    def ratio(self) -> float | None:
        old = median(self.before)
        return median(self.after) / old if old else None

    @property
    def verdict(self) -> str:
        """Beyond noise where no round of the one lies among the rounds of the other."""
        apart = max(self.before) < min(self.after) or max(self.after) < min(self.before)
        ratio = self.ratio
        if not apart or (ratio is not None and abs(ratio - 1) < NOISE):
            return "noise"
        return "more" if median(self.after) > median(self.before) else "less"

    def cells(self) -> list[str]:
        ratio = self.ratio
        return [
            self.name,
            f"{median(self.before):.4g} {self.unit}",
            f"{median(self.after):.4g} {self.unit}",
            f"{ratio:.3g}×" if ratio is not None else "",
            self.verdict,
        ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-compare REV=", description=__doc__)
    parser.add_argument("rev", help="a revision of git")
    parser.add_argument("names", nargs="*", help="benchmarks, such as `compaction`; else all")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    found = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    wanted = [f"bench_{name.removeprefix('bench_')}" for name in given.names] or found
    if unknown := set(wanted) - set(found):
        print(f"No such benchmark: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    packed = subprocess.run(
        ["git", "-C", ROOT, "archive", given.rev], capture_output=True, check=False
    )
    if packed.returncode:
        print(packed.stderr.decode().strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tree:
            tree.extractall(folder, filter="data")
        for name in wanted:
            compare(name, Path(folder), given.rounds)
    return 0


def compare(name: str, old: Path, rounds: int) -> None:
    """Measure one benchmark in both trees, and print what is another."""
    print(f"# {name}", flush=True)
    if not (old / "benchmarks" / f"{name}.py").exists():
        print("It is new.")
        return
    units: dict[str, str] = {}
    before: defaultdict[str, list[float]] = defaultdict(list)
    after: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for tree, runs in ((old, before), (ROOT, after)):
            for figure, value, unit in measured(tree, name):
                runs[figure].append(value)
                units[figure] = unit
    for line in table(before, after, units):
        print(line, flush=True)


def measured(tree: Path, name: str) -> list[tuple[str, float, str]]:
    """The figures of a benchmark of that tree. What fails there is told, and gives none."""
    env = {
        "PINFOLD_SESSIONS": str(ROOT.parent / "shared" / "sessions"),
        **os.environ,
        "PYTHONPATH": f"{tree / 'app'}{os.pathsep}{tree}",
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE, name],
        cwd=tree,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    if done.returncode:
        print(f"{name} failed in {tree}: {lines[-1]}", file=sys.stderr)
        return []
    return [tuple(json.loads(line)) for line in lines if line.startswith('["')]


def table(before: Runs, after: Runs, units: Mapping[str, str]) -> list[str]:
    """A Markdown table of the figures that both trees have; the names of the others."""
    both = [name for name in before if name in after]
    header = ["figure", "before", "after", "ratio", "change"]
    rows = [Change(name, units[name], before[name], after[name]).cells() for name in both]
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    gone = [f"Only before: {name}" for name in before if name not in after]
    new = [f"Only now: {name}" for name in after if name not in before]
    return [*lines, *gone, *new]


if __name__ == "__main__":
    sys.exit(main())

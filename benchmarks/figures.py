"""A measured figure, and the table of many."""

import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version


@dataclass(frozen=True, slots=True)
class Figure:
    """A measurement and, where there is one, its baseline from the same run."""

    name: str
    value: float
    unit: str
    baseline: float | None = None
    """In the same unit."""
    against: str = ""
    """What the baseline measures."""
    target: float | None = None
    """The largest ratio that is good; without a baseline, the largest value."""

    @property
    def ratio(self) -> float | None:
        return self.value / self.baseline if self.baseline else None

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; none where none is set."""
        if self.target is None:
            return None
        return (self.value if self.ratio is None else self.ratio) <= self.target

    def cells(self) -> list[str]:
        """The figure as a row of `table`."""
        ratio, times = self.ratio, "×" if self.ratio is not None else f" {self.unit}"
        return [
            self.name,
            f"{self.value:.4g} {self.unit}",
            f"{self.baseline:.4g} {self.unit} ({self.against})" if self.baseline else "",
            f"{ratio:.3g}×" if ratio is not None else "",
            f"≤ {self.target:.3g}{times}" if self.target is not None else "",
            {True: "yes", False: "**no**", None: ""}[self.met],
        ]

    def line(self) -> str:
        """The figure for a terminal."""
        name, value, baseline, ratio, target, _ = self.cells()
        parts = [f"{name}: {value}"]
        if baseline:
            parts.append(f"{ratio} of {baseline}")
        if target:
            parts.append(f"target {target}: {'met' if self.met else 'MISSED'}")
        return ", ".join(parts)


def table(figures: Iterable[Figure]) -> str:
    """A Markdown table."""
    header = ["figure", "value", "baseline", "ratio", "target", "met"]
    rows = [header, ["---"] * len(header), *(figure.cells() for figure in figures)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def conditions() -> str:
    """Commit, date, versions and machine, as one paragraph."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("textual", "rich", "httpx2"))
    return (
        f"Commit {_git('describe', '--always', '--dirty')}, {datetime.now(UTC):%Y-%m-%d}. "
        f"Python {platform.python_version()}, {libraries}. "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores."
    )


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"

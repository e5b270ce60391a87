"""Consolidations that are killed, and several at once, in processes of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
MEMORY = Path("/dev/shm")


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder in memory, where there is one: thousands of files are made durable."""
    with TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as made:
        yield Path(made)


def program(root: Path, *arguments: object) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "fakes.cut_consolidations", str(root), *map(str, arguments)],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("by", "every"),
    [
        ("model", 61),
        pytest.param("model", 1, marks=pytest.mark.slow),
        pytest.param("rules", 1, marks=pytest.mark.slow),
    ],
)
def test_killed_between_any_two_steps_nothing_is_lost_or_done_twice(
    root: Path, by: str, every: int
) -> None:
    found = program(root, by, every)
    assert found["steps"] > 200
    assert found["wrong"] == {}


def test_of_several_processes_one_consolidates(root: Path) -> None:
    outcomes = program(root, "together", 3)
    assert sum(begun for _, begun in outcomes) == 1
    statuses = sorted(status for status, _ in outcomes)
    assert [status for status in statuses if status not in ("busy", "unchanged")] == ["succeeded"]

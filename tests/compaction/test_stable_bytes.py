"""Checkpoint, digests and plans to the byte: on any hash seed, locale and time zone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.stable_bytes import stable_bytes

SCRIPT = """
import sys
from fakes.stable_bytes import stable_bytes

sys.stdout.buffer.write(stable_bytes())
"""


@pytest.mark.parametrize(
    "environment",
    [
        {
            "PYTHONHASHSEED": "1",
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "TZ": "Asia/Kathmandu",
        },
        pytest.param({"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8"}, marks=pytest.mark.slow),
    ],
    ids=["seed 1, C", "seed 2, Turkish"],
)
def test_the_bytes_are_the_same_anywhere(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])} | environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == stable_bytes()

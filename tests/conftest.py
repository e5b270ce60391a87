"""Snapshots of screens lie in the top-level `snapshots/`, a folder for each test module."""

from pathlib import Path

import pytest_textual_snapshot
from syrupy.location import PyTestLocation

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"


class TopLevelSnapshots(pytest_textual_snapshot.SVGImageExtension):
    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS / test_location.basename)


pytest_textual_snapshot.SVGImageExtension = TopLevelSnapshots

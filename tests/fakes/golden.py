"""Golden files in the top-level `snapshots/`, a folder for each test module."""

from pathlib import Path

from syrupy.extensions.single_file import SingleFileSnapshotExtension
from syrupy.location import PyTestLocation

SNAPSHOTS = Path(__file__).parents[2] / "snapshots"


class Golden(SingleFileSnapshotExtension):
    _file_extension = "txt"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS / test_location.basename)

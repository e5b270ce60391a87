"""What all tests share: golden files in `snapshots/`, signals, the garbage collector."""

import gc
import signal
from pathlib import Path

import pytest
import pytest_textual_snapshot
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion
from syrupy.location import PyTestLocation

from fakes.golden import SNAPSHOTS, Golden

# Whoever runs the suite may ignore these, as nohup does; processes under test would too.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# The first example may import what the others find loaded, on a machine that does other things too.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


class TopLevelSnapshots(pytest_textual_snapshot.SVGImageExtension):
    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS / test_location.basename)


pytest_textual_snapshot.SVGImageExtension = TopLevelSnapshots


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """A text file, in bytes."""
    return snapshot.use_extension(Golden)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of pinfold's, and of other tools; the test works in `tmp_path`."""
    folders = {
        "PINFOLD_HOME": "home",
        "XDG_CONFIG_HOME": "config",
        "CODEX_HOME": "codex",
        "CLAUDE_CONFIG_DIR": "claude",
    }
    for name, folder in folders.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.delenv("PINFOLD_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: nobody need look through it for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)

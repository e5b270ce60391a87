"""What all tests share: a home, golden files in `snapshots/`, signals, the garbage collector."""

import gc
import os
import signal
import tempfile
import time
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

# No test sees the settings, skills, agents, sessions, keys and time zone of whoever runs it.
_USER = tempfile.TemporaryDirectory(prefix="pinfold-user-")
for name in [*os.environ]:
    foreign = name.startswith(("PINFOLD_", "XDG_")) or name.endswith("_API_KEY")
    if foreign and name != "PINFOLD_SESSIONS":
        del os.environ[name]
for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
    os.environ.pop(name, None)
os.environ |= {"HOME": _USER.name, "TZ": "UTC"}
time.tzset()

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
    """Empty homes of the user, pinfold and other tools; the test works in `tmp_path`."""
    folders = {
        "HOME": "user",
        "PINFOLD_HOME": "home",
        "XDG_CONFIG_HOME": "config",
        "XDG_CACHE_HOME": "cache",
        "CODEX_HOME": "codex",
        "CLAUDE_CONFIG_DIR": "claude",
    }
    for name, folder in folders.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: nobody need look through it for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)

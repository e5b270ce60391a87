"""Settings follow the folder that a session works in; flags go with them."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pinfold.rollout.journal import JournalError
from pinfold.trust import trust
from pinfold.wiring.house import House, house
from pinfold.wiring.sessions import own_folder


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """Launched in a trusted folder that lets everything run, with a model named by a flag."""
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path.resolve() / "trusted"
    (folder / ".pinfold").mkdir(parents=True)
    (folder / ".pinfold" / "config.toml").write_text('[approvals]\nmode = "full"\n')
    trust(tmp_path / "home", folder)
    return house(argparse.Namespace(cd=folder, model="by-flag"))


def session_in(at: House, cwd: Path) -> Path:
    with at.store.create(cwd, "test", lambda: datetime.now(UTC)) as journal:
        return journal.folder


def test_a_session_has_the_settings_of_its_own_folder(at: House, tmp_path: Path) -> None:
    assert at.settings.approvals.mode == "full"
    other = tmp_path / "other"
    other.mkdir()
    moved = own_folder(at, session_in(at, other))
    assert moved.cwd == other
    assert moved.settings.approvals.mode == "ask"
    assert moved.settings.model.name == "by-flag"


def test_only_a_fork_goes_on_without_its_folder(at: House, tmp_path: Path) -> None:
    folder = session_in(at, tmp_path / "gone")
    with pytest.raises(JournalError, match="--fork"):
        own_folder(at, folder)
    assert own_folder(at, folder, else_here=True) == at

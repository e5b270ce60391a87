"""The sandbox that the settings and the command line make."""

import argparse
from pathlib import Path

import pytest

from pinfold.host.app_context import AppContext, app_context
from pinfold.host.sandbox import OFF, sandbox_of
from pinfold.settings import SettingsError
from pinfold.tools.sandbox.confine import find

pytestmark = pytest.mark.usefixtures("home")


def ctx(root: Path, *config: str, add: tuple[str, ...] = (), cd: Path | None = None) -> AppContext:
    (root / "work").mkdir(exist_ok=True)
    given = argparse.Namespace(cd=str(cd or root / "work"), config=list(config), add_dir=list(add))
    return app_context(given)


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    assert sandbox_of(ctx(tmp_path, "sandbox.enabled=false"), tmp_path) == (None, OFF)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"sandbox\.writable: nowhere is not a folder"):
        sandbox_of(ctx(tmp_path, add=("nowhere",)), tmp_path)


def test_the_whole_file_system_is_no_workspace(tmp_path: Path) -> None:
    sandbox, why = sandbox_of(ctx(tmp_path, cd=Path("/")), tmp_path)
    assert sandbox is None
    assert "whole file system" in why


@pytest.mark.skipif(find().kind is None, reason=find().text)
def test_folders_network_and_what_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    made = ctx(tmp_path, "sandbox.writable=../one", "sandbox.network=true", add=("../two",))
    sandbox, why = sandbox_of(made, tmp_path / "session")
    assert (sandbox is not None, why) == (True, "")
    assert sandbox is not None
    assert [root.name for root in sandbox.roots] == ["work", "one", "two"]
    assert sandbox.network
    assert tmp_path / "home" in sandbox.hidden
    assert sandbox.scratch == tmp_path / "session" / "sandbox"


def test_a_project_does_not_widen_it_by_itself(tmp_path: Path) -> None:
    config = tmp_path / "work" / ".pinfold" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[sandbox]\nenabled = false\nnetwork = true\nwritable = ["/"]\n')
    settings = ctx(tmp_path).settings.sandbox
    assert (settings.enabled, settings.network, settings.writable) == (True, False, ())

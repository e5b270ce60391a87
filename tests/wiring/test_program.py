"""What to type to begin pinfold again."""

import os
import sys
from pathlib import Path

import pytest

from pinfold.paths import program


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, below the user's; neither is on the PATH."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"/usr/bin{os.pathsep}{tmp_path}/bin/")
    monkeypatch.chdir(work)
    return tmp_path


@pytest.mark.parametrize(
    ("begun", "said"),
    [
        ("/site-packages/pinfold/__main__.py", "pinfold"),
        ("{}/bin/pinfold", "pinfold"),
        ("./pinfold", "./pinfold"),
        (".venv/bin/pinfold", ".venv/bin/pinfold"),
        ("{}/work/.venv/bin/pinfold", ".venv/bin/pinfold"),
        ("{}/other/bin/pinfold", "~/other/bin/pinfold"),
        ("/opt/bin/pinfold", "/opt/bin/pinfold"),
    ],
)
def test_it_is_named_as_it_can_be_typed_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, begun: str, said: str
) -> None:
    monkeypatch.setattr(sys, "argv", [begun.format(folder)])
    assert program() == said


def test_it_is_named_where_the_current_folder_is_gone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/bin/pinfold"])
    (folder / "work").rmdir()
    assert program() == "/opt/bin/pinfold"

"""The picture on the clipboard, saved in the session's folder."""

import os
from pathlib import Path

import pytest

from pinfold.ports.tool import ToolError
from pinfold.tools import clipboard
from pinfold.tools.clipboard import PNG, readers, save_picture


@pytest.mark.parametrize(
    ("env", "platform", "programs"),
    [
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux", ["wl-paste", "xclip"]),
        ({"DISPLAY": ":0"}, "linux", ["xclip"]),
        ({}, "linux", []),
        ({}, "darwin", ["pngpaste", "osascript"]),
    ],
)
def test_programs_of_the_desktop(env: dict[str, str], platform: str, programs: list[str]) -> None:
    assert [words[0] for words in readers(env, platform)] == programs


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, on a desktop with X11 alone."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(clipboard.sys, "platform", "linux")
    return folder


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


async def test_it_is_saved_beside_those_of_earlier_pastes(desktop: Path, tmp_path: Path) -> None:
    (tmp_path / "shot").write_bytes(PNG + b"rest")
    program(desktop / "xclip", f"cat {tmp_path}/shot")
    first, second = [await save_picture(tmp_path) for _ in range(2)]
    assert (first, second) == (tmp_path / "pasted" / "1.png", tmp_path / "pasted" / "2.png")
    assert second.read_bytes() == PNG + b"rest"
    assert second.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("script", ["echo text", "exit 1", "true"])
async def test_where_there_is_none_it_says_so(desktop: Path, tmp_path: Path, script: str) -> None:
    program(desktop / "xclip", script)
    with pytest.raises(ToolError, match="no picture on the clipboard"):
        await save_picture(tmp_path)
    assert not (tmp_path / "pasted").exists()

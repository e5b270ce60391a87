"""Which files searches and `@` look at."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinfold.tools import listing
from pinfold.tui.prompt import files as completed

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without rules of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path / "home"


def lay(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("needle\n")


def ignore(folder: Path, *lines: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("\n".join(lines))


def listed(folder: Path) -> list[str]:
    return [name for name in listing.walk(folder) if not name.endswith(".gitignore")]


async def test_no_search_runs_what_a_repository_names(
    run: Run, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A repository of one's own, and a bare one that came along as ordinary files.
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    subprocess.run(["git", "init", "-q", "--bare", "vendor/tool"], cwd=work, check=True)
    lay(work, "a.py", "vendor/tool/b.py")
    trap = f"touch {tmp_path}/sprung"
    for config in (work / ".git" / "config", work / "vendor" / "tool" / "config"):
        with config.open("a") as file:
            file.write(f"[core]\n\tfsmonitor = {trap}\n\tbare = false\n\tworktree = .\n")
            file.write(f'[remote "origin"]\n\turl = .\n\tpromisor = true\n\tuploadpack = {trap}\n')
    # Whatever git would make of that: it is not even asked.
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{trap}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    assert (await run("glob", pattern="*.py", path="vendor/tool")).output == "vendor/tool/b.py"
    assert (await run("glob", pattern="*.py")).output == "a.py\nvendor/tool/b.py"
    assert (await run("grep", pattern="needle", path="vendor/tool")).detail == {"matches": 1}
    assert {"a.py", "vendor/tool/b.py"} <= set(completed.list_files(work))
    assert not (tmp_path / "sprung").exists()


def test_rules_of_every_folder_count_and_the_nearest_decides(tmp_path: Path) -> None:
    ignore(tmp_path, "*.log", "/top", "!kept.log", "build/")
    ignore(tmp_path / "sub", "!*.log", "top")
    lay(tmp_path, "x.log", "kept.log", "top", "sub/x.log", "sub/top", "deep/top", "deep/build/x")
    assert listed(tmp_path) == ["deep/top", "kept.log", "sub/x.log"]


def test_rules_above_count_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    ignore(tmp_path, "*.py")
    ignore(tmp_path / "repo", "*.log", "out/")
    (tmp_path / "repo" / ".git" / "info").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "info" / "exclude").write_text("*.tmp\n")
    lay(tmp_path / "repo", "sub/x.log", "sub/x.py", "sub/x.tmp", "sub/out/y")
    assert listed(tmp_path / "repo" / "sub") == ["x.py"]


def test_a_folder_that_is_ignored_is_shown_when_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    ignore(tmp_path, "out/", "*.log")
    lay(tmp_path, "out/y", "out/deep/z", "out/x.log")
    assert listed(tmp_path) == []
    assert listed(tmp_path / "out") == ["deep/z", "x.log", "y"]
    assert listed(tmp_path / "out" / "deep") == ["z"]


def test_the_users_own_rules_count(tmp_path: Path, home: Path) -> None:
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*.swp\n")
    lay(tmp_path / "work", "x.swp", "y")
    assert listed(tmp_path / "work") == ["y"]


def test_clutter_links_to_folders_and_what_is_no_file_are_left_out(tmp_path: Path) -> None:
    work = tmp_path / "work"
    lay(work, "a", "node_modules/x", "sub/.git/config", "tree/.git", ".venv/x", ".hidden/x")
    lay(tmp_path, "outside/x")
    (work / "link").symlink_to(tmp_path / "outside")
    os.mkfifo(work / "pipe")
    assert listed(work) == [".hidden/x", "a", "link"]
    assert listed(work / "node_modules") == ["x"]


def test_rules_that_are_no_text_file_or_endless_are_not_read(tmp_path: Path) -> None:
    lay(tmp_path, "fifo/x", "device/x", "huge/x", "slow/" + "a" * 200)
    os.mkfifo(tmp_path / "fifo" / ".gitignore")
    (tmp_path / "device" / ".gitignore").symlink_to("/dev/zero")
    ignore(tmp_path / "huge", *["x"] * 200_000)
    # Matching it by trial would take longer than anybody lives.
    ignore(tmp_path / "slow", "*a*a*a*a*a*a*a*a*a*a*a*a*b")
    found = [name.partition("/")[0] for name in listed(tmp_path)]
    assert found == ["device", "fifo", "huge", "slow"]


def test_a_tree_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_FILES", 3)
    lay(tmp_path, *(f"{n}/{m}" for n in range(3) for m in range(3)))
    assert len(listed(tmp_path)) == 3

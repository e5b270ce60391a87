"""The git repository that holds what was consolidated last."""

import subprocess
from pathlib import Path

import pytest

from pinfold.memories import baseline, trees
from pinfold.memories.places import MemoryPlaces


@pytest.fixture
def places(tmp_path: Path) -> MemoryPlaces:
    made = MemoryPlaces.of(tmp_path)
    made.files.mkdir()
    made.work.mkdir()
    return made


def git(places: MemoryPlaces, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(places.files), *arguments], capture_output=True, check=True
    )
    return done.stdout.decode(errors="replace")


def test_what_is_deleted_is_in_no_object_any_more(places: MemoryPlaces) -> None:
    assert baseline.read(places) == {}
    first = {"MEMORY.md": b"the launch code is swordfish\n", "skills/a/SKILL.md": b"a\n"}
    baseline.reset(places, first)
    assert baseline.read(places) == first
    # What a user or a program may do in it must not keep anything either.
    git(places, "gc", "-q")
    git(places, "stash", "list")
    baseline.reset(places, {"MEMORY.md": b"nothing\n"})
    assert baseline.read(places) == {"MEMORY.md": b"nothing\n"}
    every = git(places, "cat-file", "--batch-all-objects", "--batch")
    assert "nothing" in every
    assert "swordfish" not in every
    assert git(places, "fsck", "--unreachable", "--no-reflogs") == ""
    assert not list(places.work.iterdir())
    trees.put(places.files, "MEMORY.md", b"nothing\n")
    assert git(places, "status", "--short") == ""
    trees.put(places.files, "MEMORY.md", b"something\n")
    assert git(places, "status", "--short") == " M MEMORY.md\n"


def test_a_damaged_baseline_counts_as_none(places: MemoryPlaces) -> None:
    baseline.reset(places, {"MEMORY.md": b"one\n"})
    for damage in (b"", b"garbage", None):
        for path in (places.files / ".git").rglob("*"):
            if path.is_file() and path.parent.parent.name == "objects":
                path.chmod(0o600)
                path.unlink() if damage is None else path.write_bytes(damage)
        assert baseline.read(places) == {}
        baseline.reset(places, {"MEMORY.md": b"two\n"})
        assert baseline.read(places) == {"MEMORY.md": b"two\n"}
    (places.files / ".git/config").write_text("[core")
    (places.files / ".git/refs/heads/main").write_text("x")
    assert baseline.read(places) == {}


def test_the_diff_is_as_git_shows_it() -> None:
    before = {"a.md": b"one\ntwo\n", "gone.md": b"x\n", "same.md": b"s\n"}
    after = {"a.md": b"one\n2\n", "new.md": b"y\n", "same.md": b"s\n", "b.bin": b"\xff"}
    assert baseline.status(before, after) == ["M a.md", "A b.bin", "D gone.md", "A new.md"]
    assert baseline.diff(before, after) == (
        "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        "diff --git a/b.bin b/b.bin\nnew file\nBinary files differ\n"
        "diff --git a/gone.md b/gone.md\ndeleted file\n--- a/gone.md\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-x\n"
        "diff --git a/new.md b/new.md\nnew file\n--- /dev/null\n+++ b/new.md\n@@ -0,0 +1 @@\n+y\n"
    )
    assert baseline.diff(before, before) == ""
    assert trees.text(b"\xff") is None

import errno
import os
import subprocess
from pathlib import Path

import pytest

from pinfold.ports.tool import Observation, ToolContext, ToolError
from pinfold.rollout.blobs import Blobs
from pinfold.tools import edits, workspace
from pinfold.tools.diffs import Diff


def change(path: Path, before: str | None, after: bytes | None) -> edits.FileEdit:
    return edits.FileEdit(path, before, after, Diff("", 0, 0))


def test_paths_are_followed_through_symlinks_home_and_dots(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (work / "out").symlink_to("/etc")
    assert workspace.resolve("out/hosts", work) == Path("/etc/hosts").resolve()
    assert workspace.resolve("~/x", work) == tmp_path.resolve() / "x"
    assert workspace.resolve("a/../../x", work) == work.parent / "x"
    assert workspace.uri(work / "a" / "b", work) == "a/b"
    assert workspace.uri(work.parent / "x", work) == (work.parent / "x").as_posix()
    assert not workspace.inside(work.parent / "work-too", work)


@pytest.mark.parametrize("path", ["", "a\0b", "loop/x", "~nobody-of-that-name/x"])
def test_what_is_no_path_is_refused(work: Path, path: str) -> None:
    (work / "loop").symlink_to("loop")
    with pytest.raises(ToolError):
        workspace.resolve(path, work)


def test_hashes_are_gits(work: Path) -> None:
    file = work / "x"
    file.write_bytes(b"pin\r\nfold\0")
    git = subprocess.run(
        ["git", "hash-object", "--no-filters", "x"], cwd=work, capture_output=True, check=True
    )
    assert workspace.hash_file(file) == git.stdout.decode().strip()
    assert workspace.blob_hash(file.read_bytes()) == git.stdout.decode().strip()


def test_an_output_is_an_artifact_with_the_hash_of_its_text() -> None:
    seen = workspace.observe_output("call_7", "é")
    assert seen == Observation(
        "call:call_7", "tool_output", "run", workspace.blob_hash("é".encode())
    )


def test_bytes_before_an_edit_can_be_restored_with_their_mode(context: ToolContext) -> None:
    file = context.workspace / "run.sh"
    file.write_bytes(b"old\r\n")
    file.chmod(0o755)
    hashed = workspace.save(file, context.folder)
    workspace.write(file, b"new", 0o755)
    workspace.restore(hashed, context.folder, file, 0o755)
    assert file.read_bytes() == b"old\r\n"
    assert workspace.file_mode(file) == 0o755
    assert workspace.save(file, context.folder) == hashed


def test_a_new_file_has_the_mode_that_the_umask_leaves(work: Path) -> None:
    before = os.umask(0o027)
    try:
        workspace.write(work / "sub" / "x", b"")
    finally:
        os.umask(before)
    assert workspace.file_mode(work / "sub" / "x") == 0o640


def test_if_one_change_fails_the_others_are_undone(context: ToolContext) -> None:
    changed, gone, blocked = (context.workspace / name for name in ("a", "b", "c"))
    changed.write_bytes(b"a")
    changed.chmod(0o600)
    gone.write_bytes(b"b")
    blocked.write_bytes(b"a file where a folder is needed")
    with pytest.raises(ToolError, match="Nothing was changed"):
        edits.apply(
            [
                change(context.workspace / "new", None, b"new"),
                change(changed, workspace.hash_file(changed), b"A"),
                change(gone, workspace.hash_file(gone), None),
                change(blocked / "x", None, b"x"),
            ],
            context,
            "done",
        )
    assert changed.read_bytes() == b"a"
    assert workspace.file_mode(changed) == 0o600
    assert gone.read_bytes() == b"b"
    assert workspace.hash_file(gone) == workspace.blob_hash(b"b")
    assert {path.name for path in context.workspace.iterdir()} == {"a", "b", "c"}


def test_what_could_not_be_put_back_is_named_and_observed(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, stuck = context.workspace / "kept", context.workspace / "stuck"
    kept.write_bytes(b"k")
    stuck.write_bytes(b"s")
    before = workspace.hash_file(stuck)
    write = workspace.write

    def full_disk(path: Path, data: bytes, mode: int | None = None) -> None:
        if path.name == "last" or (path == stuck and data == b"s"):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data, mode)

    monkeypatch.setattr(workspace, "write", full_disk)
    outcome = edits.apply(
        [
            change(kept, workspace.hash_file(kept), b"K"),
            change(stuck, before, b"S"),
            change(context.workspace / "last", None, b"x"),
        ],
        context,
        "done",
    )
    assert not outcome.ok
    assert outcome.output.startswith(f"stuck was changed and could not be put back (blob {before})")
    assert kept.read_bytes() == b"k"
    assert outcome.observations == (
        Observation("stuck", "file", "update", workspace.hash_file(stuck), before),
    )
    assert Blobs(context.folder).read(before) == b"s"


def test_a_file_that_something_else_changed_is_left_alone(context: ToolContext) -> None:
    file = context.workspace / "a"
    file.write_bytes(b"theirs")
    with pytest.raises(ToolError, match="changed by something else"):
        edits.apply([change(file, workspace.blob_hash(b"ours"), b"x")], context, "done")
    assert file.read_bytes() == b"theirs"

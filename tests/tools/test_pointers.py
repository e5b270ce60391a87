"""What a repository's own files say of where git keeps its folder."""

import os
from pathlib import Path

import pytest

from pinfold.tools.sandbox.places import worktree


@pytest.mark.parametrize("name", ["gitdir", "commondir"])
def test_a_pipe_or_an_endless_file_in_the_place_of_a_pointer_hangs_nobody(
    tmp_path: Path, name: str
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / ".git").write_text("gitdir: own")
    (own / "gitdir").write_text(str(tmp_path / ".git"))
    (own / name).unlink(missing_ok=True)
    os.mkfifo(own / name)
    assert worktree(tmp_path) is None
    (own / name).unlink()
    (own / name).symlink_to("/dev/zero")
    assert worktree(tmp_path) is None

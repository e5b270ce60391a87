"""`/status`, `/cost`, `/diff`."""

import subprocess
from pathlib import Path

import pytest

from fakes.commands import FakeContext, run
from pinfold.commands.arguments import CommandError
from pinfold.commands.registry import BY_SLASH
from pinfold.commands.status import working_tree


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


async def test_status_names_what_one_asks_for() -> None:
    context = FakeContext()
    await run(context, "/status")
    (said,) = context.told
    for name in ("Model", "Folder", "Approvals", "Sandbox", "Window", "Session"):
        assert f"\n{name}" in f"\n{said}"
    assert context.session.id in said
    assert BY_SLASH["clear"] is BY_SLASH["new"]


async def test_cost_of_a_session_that_asked_nobody() -> None:
    context = FakeContext()
    await run(context, "/cost")
    assert "0 tokens" in context.told[0]


async def test_the_diff_has_edits_deletions_and_untracked_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("one\n")
    (tmp_path / "gone.py").write_text("bye\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    assert await working_tree(tmp_path) == ""
    (tmp_path / "a.py").write_text("two\n")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "-new é.py").write_text("new\n")
    (tmp_path / "sub").mkdir()
    diff = await working_tree(tmp_path / "sub")
    assert "-one\n+two" in diff
    assert "+++ b/gone.py (deleted)" in diff
    assert "+++ b/-new é.py\n@@ -0,0 +1 @@\n+new" in diff
    assert "mode" not in diff
    with pytest.raises(CommandError, match="Git repository"):
        await working_tree(tmp_path.parent)


async def test_a_repository_without_a_commit_has_a_diff_and_its_config_runs_nothing(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.fsmonitor", f"touch {tmp_path}/ran")
    git(tmp_path, "config", "diff.external", f"touch {tmp_path}/ran")
    (tmp_path / "a.py").write_text("one\n")
    (tmp_path / ".gitattributes").write_text("*.py filter=bad\n")
    git(tmp_path, "-c", "core.fsmonitor=false", "add", ".")
    git(tmp_path, "config", "filter.bad.clean", f"touch {tmp_path}/ran; cat")
    (tmp_path / "a.py").write_text("one more\n")
    assert "+one more" in await working_tree(tmp_path)
    assert not (tmp_path / "ran").exists()

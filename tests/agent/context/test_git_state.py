"""What git says of the working directory, as the model is told of it."""

import subprocess
from pathlib import Path

from fakes.agent import stage
from fakes.provider import says
from pinfold.agent.context.git_state import described
from pinfold.agent.options import Options


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def test_what_is_said() -> None:
    status = """\
# branch.oid 1234
# branch.head main
# branch.upstream origin/main
# branch.ab +2 -1
1 .M N... 100644 100644 100644 a a x.py
1 M. N... 100644 100644 100644 a a y.py
1 MM N... 100644 100644 100644 a a z.py
u UU N... 100644 100644 100644 100644 a a a w.py
? new.py
"""
    assert described(status) == (
        "Git: on main, 2 ahead of origin/main, 1 behind origin/main; "
        "2 staged, 2 changed, 1 in conflict, 1 untracked."
    )
    assert described("# branch.head main") == "Git: on main; nothing changed."
    assert described("fatal: nonsense") == ""


async def test_it_is_told_before_a_turn_once_it_has_changed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    script = [says("One."), says("Two."), says("Three.")]
    on = await stage(tmp_path, script, options=Options(trusted=True))

    async def told() -> list[str]:
        await on.session.send("go")
        return [item.content for item in on.session.items if item.content.startswith("Git: ")]

    first = "Git: on main; nothing changed."
    assert await told() == [first]
    assert await told() == [first]
    (work / "a.txt").touch()
    assert await told() == [first, "Git: on main; 1 untracked."]
    await on.session.close()


async def test_git_does_not_run_in_a_folder_that_nobody_trusts(tmp_path: Path) -> None:
    """Its own configuration may name programs; a sandbox would hold them."""
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    git(work, "config", "core.fsmonitor", f"touch {tmp_path}/ran")
    on = await stage(tmp_path, [says("One.")])
    await on.session.send("go")
    assert on.kinds() == ["user", "assistant"]
    assert not (tmp_path / "ran").exists()
    await on.session.close()

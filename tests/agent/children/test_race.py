"""A race: one prompt, several forks, each in a folder of its own."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fakes.agent import Stage
from fakes.agents import troupe
from fakes.provider import calls, says
from fakes.repository import commit_all
from pinfold.agent.children.race_folders import Base
from pinfold.agent.options import Options
from pinfold.commands.arguments import CommandError
from pinfold.commands.race import race
from pinfold.commands.status import cost
from pinfold.host.race_folders import CopiedFolders
from pinfold.ports.errors import RequestRejected
from pinfold.ports.tool import ToolError
from pinfold.rollout import provenance
from pinfold.rollout.journal import Journal
from pinfold.tools.git import git

FULL = Options(approvals="full")


def shell(call_id: str, command: str) -> tuple[str, str, str]:
    return (call_id, "shell", f'{{"command": "{command}"}}')


async def folder(root: Path, *, repository: bool) -> Path:
    """Committed `a.txt` and `b.txt`, of which the first has changed and the second is gone since;
    `new.txt` is untracked, `secret.env` ignored. The repository's hooks and filters leave marks."""
    work = root / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\n")
    (work / "b.txt").write_text("two\n")
    (work / ".gitignore").write_text("*.env\n")
    if repository:
        commit_all(work)
        for words in (
            ("config", "filter.mark.clean", f"touch {root}/ran; cat"),
            ("config", "filter.mark.smudge", f"touch {root}/ran; cat"),
        ):
            await git(work, *words)
        hook = work / ".git" / "hooks" / "post-checkout"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {root}/ran\n")
        hook.chmod(0o755)
        (work / ".gitattributes").write_text("*.txt filter=mark\n")
    (work / "a.txt").write_text("one, edited\n")
    (work / "b.txt").unlink()
    (work / "new.txt").write_text("untracked\n")
    (work / "secret.env").write_text("KEY=1\n")
    return work


def files(work: Path) -> dict[str, str]:
    return {
        str(path.relative_to(work)): path.read_text()
        for path in sorted(work.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def context(on: Stage, said: list[str]) -> Any:
    return SimpleNamespace(
        session=on.session, tell=lambda text, *_: said.append(text), open=said.append
    )


async def ended(on: Stage) -> None:
    await on.until(lambda: not on.session.children.running)


@pytest.mark.parametrize("repository", [True, False])
async def test_two_race_and_one_is_kept(tmp_path: Path, repository: bool) -> None:
    work = await folder(tmp_path, repository=repository)
    before = files(work)
    same = shell("1", "cat a.txt new.txt")
    racers = {
        "/a1-": [calls(same, shell("2", "echo better > c.txt; rm new.txt")), says("Done well.")],
        "/a2-": [calls(same, shell("2", "echo worse > d.txt; exit 3")), says("Done badly.")],
    }
    on = await troupe(
        tmp_path,
        [says("Hello."), says("Yes.")],
        racers,
        options=FULL,
        races=CopiedFolders(work),
    )
    await on.session.send("hello")
    said: list[str] = []
    await race(context(on, said), "2 make it better")
    assert ("worktree" if repository else "copy of the folder") in said[0]
    await ended(on)
    assert files(work) == before
    assert not (tmp_path / "ran").exists()

    # Each began with all that was not committed, and with the user's words.
    outcomes = await on.session.races.outcomes(1)
    for number in (1, 2):
        items = await on.session.children.items(number)
        assert any("one, edited\nuntracked" in item.content for item in items)
        prompt = [item for item in items if item.kind == "user"][-1]
        assert provenance.typed(prompt) == ["make it better"]
        assert items[0].content == on.session.items[0].content
    changed = {n: [file.path for file in one.files] for n, one in outcomes.items()}
    good, bad = 1, 2
    assert changed == {good: ["c.txt", "new.txt"], bad: ["d.txt"]}
    assert (outcomes[good].added, outcomes[good].removed) == (1, 1)
    assert "+better" in await on.session.races.diff(good)
    # The command that both ran.
    assert {(one.ran.command, one.ran.code) for one in outcomes.values() if one.ran} == {
        ("cat a.txt new.txt", 0)
    }
    printed = await on.session.races.test(1, "test -f c.txt")
    assert set(printed) == {1, 2}
    tested = on.session.races.tested(1)
    assert tested is not None
    assert dict(tested.codes) == {good: 0, bad: 1}
    # Of what lost, the model hears nothing; of what was kept, one item.
    assert set(await on.session.races.keep(good)) == {"c.txt", "new.txt"}
    assert files(work) == {
        **{name: text for name, text in before.items() if name != "new.txt"},
        "c.txt": "better\n",
    }
    await on.session.send("go on")
    (kept,) = (item for item in on.session.items if f"a{good}" in item.content)
    assert "make it better" in kept.content
    assert not any(f"a{bad} " in item.content for item in on.session.items)
    with pytest.raises(ToolError, match=f"agent a{good} has already been kept"):
        await on.session.races.keep(bad)
    # Chosen items of the other come over by number; its folder goes when the user says so.
    last = (await on.session.children.items(bad))[-1]
    await race(context(on, said), f"bring a{bad}#{last.n}")
    assert last.content in on.session.items[-1].content
    assert f"item {last.n} of agent a{bad}" in on.session.items[-1].content
    there = on.session.children.end(bad)
    assert there is not None
    assert Path(there.worktree).is_dir()
    await on.session.races.remove(bad)
    assert not Path(there.worktree).exists()
    await on.session.close()


async def test_a_conflict_changes_nothing_and_one_may_die(tmp_path: Path) -> None:
    work = await folder(tmp_path, repository=True)
    racers = {
        "/a1-": [
            calls(shell("1", "echo mine >> a.txt; echo x > c.txt; echo > .gitignore")),
            says("Done."),
        ],
        "/a2-": [[RequestRejected("The model is down.")]],
    }
    on = await troupe(tmp_path, [says("Hello.")], racers, options=FULL, races=CopiedFolders(work))
    await on.session.races.start("do it", 2)
    await ended(on)
    ends = [on.session.children.end(n) for n in (1, 2)]
    states = {end.state: end.child for end in ends if end is not None}
    assert set(states) == {"done", "failed"}
    (work / "a.txt").write_text("changed by the user\n")
    before = files(work)
    with pytest.raises(ToolError, match=r"Nothing was brought over: a\.txt also changed"):
        await on.session.races.keep(states["done"])
    assert files(work) == before
    assert on.session.races.kept(1) == 0
    assert (await on.session.races.outcomes(1))[states["failed"]].files == ()
    # A session that has asked nothing itself has spent what its agents did.
    said: list[str] = []
    await cost(context(on, said))
    assert "Agents: scripted/scripted-1" in said[0]
    # What fails halfway leaves nothing behind, either.
    (work / "a.txt").write_text("one, edited\n")
    before = files(work)

    def full(path: Path) -> str:
        raise OSError(28, f"No space left for {path.name}")

    folders, started = CopiedFolders(work), on.session.races.racers(1)[states["done"] - 1]
    base = Base("worktree", on.session.races.known[0].tree, tmp_path)
    (Path(ends[states["done"] - 1].worktree) / "0first.txt").write_text("comes first\n")  # type: ignore[union-attr]
    with pytest.raises(ToolError, match="No space left"):
        await folders.take(started.worktree, base, full)
    assert files(work) == before
    for text, why in (
        ("5 x", "A race has 2 to 4 agents, not 5"),
        ("2 --model a,b,c x", "--model names 3 models for 2 agents"),
        ("x", "/race 2 PROMPT"),
    ):
        with pytest.raises(CommandError, match=why):
            await race(context(on, []), text)
    await on.session.close()
    # It is still there when the session is opened again.
    journal = Journal.open(on.session.folder, on.clock.now)
    again = await troupe(tmp_path, [], {}, journal=journal, races=CopiedFolders(work))
    assert set(await again.session.races.keep(states["done"])) >= {"a.txt", "c.txt"}
    await again.session.close()

"""A session goes on as it was left, and says what became of its files meanwhile."""

import json
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.files import Meanwhile
from pinfold.agent.options import Options
from pinfold.ports.errors import RequestRejected
from pinfold.ports.tool import ToolError
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.events import ArtifactObserved, ItemAdded, TurnStarted
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.provenance import Prompt
from pinfold.rollout.store import SessionStore
from pinfold.tools.restore import changes, plan
from pinfold.tools.workspace import blob_hash


def write(path: str, content: str) -> tuple[str, str, str]:
    return f"w-{path}", "write_file", json.dumps({"path": path, "content": content})


def read(path: str) -> tuple[str, str, str]:
    return f"r-{path}", "read_file", json.dumps({"path": path})


async def wrote(root: Path, *made: tuple[str, str, str]) -> Stage:
    """A session whose only turn made these calls; closed."""
    on = await stage(root, [calls(*made), says("Done.")], options=Options(approvals="full"))
    await on.say("go")
    await on.session.close()
    return on


async def again(root: Path, was: Stage, *script: list) -> Stage:  # type: ignore[type-arg]
    return await was.again(script)


# How it was left


PLAN = {
    "kind": "plan",
    "steps": [
        {"id": "1", "text": "Read it.", "done": True},
        *({"id": str(n), "text": f"Port part {n}."} for n in range(2, 7)),
    ],
    "evidence": {"source": "user", "ref": "latest"},
}
PLANS = ("p", "memory_apply", json.dumps(PLAN))


async def test_a_turn_that_ended_well_needs_no_warning(tmp_path: Path) -> None:
    on = await again(tmp_path, await wrote(tmp_path, write("a.py", "a")), says("Yes."))
    assert on.session.notices == ()
    assert on.session.left_at == ""
    await on.say("and now?")
    kinds = [item.kind for item in on.provider.requests[-1].items]
    assert kinds == ["user", "tool_call", "tool_result", "assistant", "user"]


async def test_a_new_session_stands_nowhere(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("Hello.")])
    assert on.session.left_at == ""
    await on.say("hello")
    assert on.kinds() == ["user", "assistant"]


async def test_an_open_plan_is_told_to_both(tmp_path: Path) -> None:
    on = await again(tmp_path, await wrote(tmp_path, PLANS), says("On it."), says("Done."))
    assert on.session.left_at == (
        "Your last request (#1) was finished: “go”. Plan: 1 of 6 steps done; next: Port part 2."
    )
    for prompt in ("and now?", "and then?"):
        await on.say(prompt)
    told = [item for item in on.provider.requests[-1].items if item.kind == "checkpoint"]
    (only,) = told
    assert only.content == (
        "This session was closed and is open again. The last turn was finished.\n"
        "The user's last request (#1): “go”.\n"
        "Plan: 1 of 6 steps done; open: Port part 2; Port part 3; Port part 4; and 2 more.\n"
        "Continue from there, unless the user now says otherwise."
    )


async def test_a_fork_was_not_closed(tmp_path: Path) -> None:
    was = await stage(tmp_path, [[RequestRejected("No credit is left.")]])
    await was.say("go")
    await was.session.close()
    store = SessionStore(tmp_path / "home")
    at = await stage(
        tmp_path,
        [says("On it.")],
        journal=lambda: store.fork(was.session.folder, None, was.clock.now)[0],
    )
    await at.say("and now?")
    (told,) = at.items("checkpoint")
    assert told.content.startswith(
        "The user forked the session here. The last turn failed: No credit is left.\n"
    )
    assert told.detail == {"for_user": "where the last turn ended"}


async def test_a_turn_that_was_cut_off_is_told_with_its_request(tmp_path: Path) -> None:
    on = await stage(tmp_path, [[RequestRejected("No credit is left.")]])
    await on.say("mend\nthe   port " + "now " * 80)
    await on.session.close()
    later = await again(tmp_path, on, says("Mended."))
    assert later.session.notices == ("The last turn failed: No credit is left.",)
    assert later.session.left_at.startswith("Your last request (#1): “mend the port now now ")
    assert later.session.left_at.endswith(" n…”.")
    assert len(later.session.left_at) < 200
    await later.say("go on")
    told = later.provider.requests[-1].items[1]
    assert told.content.startswith(
        "This session was closed and is open again. The last turn failed: No credit is left.\n"
    )


async def test_a_crash_leaves_a_turn_that_is_gone_on_with(tmp_path: Path) -> None:
    on = await wrote(tmp_path, PLANS)
    with Journal.open(on.session.folder, on.clock.now) as journal:
        journal.append(TurnStarted(turn=2), ItemAdded(item=Item(n=9, kind="user", content="more")))
    later = await again(tmp_path, on, says("On."))
    assert later.session.left_at == (
        "Your last request (#9): “more”. Plan: 1 of 6 steps done; next: Port part 2."
    )
    await later.say("go on")
    told = next(i for i in later.provider.requests[-1].items if i.kind == "checkpoint")
    assert "The last turn was interrupted: pinfold stopped." in told.content


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        (b'{"seq":9,"ts":"20', "The last line was half-written (17 bytes). It is"),
        (b"no json\n", "The last line could not be read (8 bytes). It is"),
        (
            b"\0" * 1_000 + b"\n" + b"\0" * 2_000,
            "The last 2 lines could not be read (3,001 bytes): whole turns may be gone. They are",
        ),
    ],
)
async def test_how_much_of_the_rollout_was_torn_off_is_told(
    tmp_path: Path, rest: bytes, said: str
) -> None:
    was = await wrote(tmp_path, write("a.py", "a"))
    with (was.session.folder / "rollout.jsonl").open("ab") as rollout:
        rollout.write(rest)
    on = await again(tmp_path, was)
    kept = was.session.folder / "rollout.torn"
    assert on.session.damage == (f"{said} cut off and kept in {kept}.",)
    assert on.session.damage[0] in on.session.notices


@pytest.mark.parametrize("read_only", [False, True])
async def test_prompts_that_waited_go_into_the_prompt_line(tmp_path: Path, read_only: bool) -> None:
    on = await stage(tmp_path, [])
    await on.session._record.append(TurnStarted(turn=1))
    on.session._parts.work.queue.add(Prompt("and then?"))
    on.session._parts.work.queue.add(Prompt("and after that?", ((4, 9),)))
    await on.session.idle()
    later = await on.again(read_only=read_only)
    assert "middle of a turn" in later.session.notices[0]
    told = "The 2 queued prompts are in the prompt line."
    assert (told in later.session.notices) is not read_only
    assert later.session.draft().text == ("" if read_only else "and then?\n\nand after that?")
    assert later.session.draft().pasted == (() if read_only else ("after",))


# What became of its files


async def test_files_that_changed_meanwhile_are_told_and_journalled_with_the_next_turn(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "c.py").write_text("c")
    was = await wrote(
        tmp_path, write("a.py", "a"), write("b.py", "b"), write("d.py", "d"), read("c.py")
    )
    (work / "a.py").write_text("mine")
    (work / "b.py").unlink()
    (work / "c.py").write_text("mine")
    on = await again(tmp_path, was, says("I see."), says("Still."))
    before = len(on.events())
    found = await on.session.files.meanwhile()
    assert (found.changed, found.gone) == (("a.py", "c.py"), ("b.py",))
    assert str(found) == "2 files changed since: a.py, c.py. Gone since: b.py."
    assert len(on.events()) == before
    await on.say("go on")
    seen = [event for event in on.events()[before:] if isinstance(event, ArtifactObserved)]
    assert [(event.uri, event.op, event.hash, event.item) for event in seen] == [
        ("a.py", "read", blob_hash(b"mine"), None),
        ("b.py", "delete", None, None),
        ("c.py", "read", blob_hash(b"mine"), None),
    ]
    told = next(item for item in on.provider.requests[-1].items if item.kind == "checkpoint")
    assert "2 files changed since: a.py, c.py. Gone since: b.py." in told.content
    assert "[SESSION_CHECKPOINT v1]" in told.content
    assert await on.session.files.meanwhile() == Meanwhile()
    await on.session.close()
    (work / "b.py").write_text("back")
    last = await again(tmp_path, was)
    assert (await last.session.files.meanwhile()).changed == ("b.py",)


async def test_nothing_is_told_of_a_new_session_or_of_unchanged_files(tmp_path: Path) -> None:
    was = await wrote(tmp_path, write("a.py", "a"))
    (tmp_path / "work/a.py").touch()
    assert str(await (await again(tmp_path, was)).session.files.meanwhile()) == ""
    assert str(await was.session.files.meanwhile()) == ""


def test_many_files_are_counted() -> None:
    seen = (ArtifactObserved(uri=f"{n}.py", kind="file", op="read") for n in range(7))
    found = Meanwhile(tuple(seen))
    assert str(found) == "7 files changed since: 0.py, 1.py, 2.py, 3.py, 4.py and 2 more."


# Undoing what a span did to them


async def test_what_was_done_to_files_is_undone_in_a_fork_and_journalled_there(
    tmp_path: Path,
) -> None:
    was = await wrote(tmp_path, write("a.py", "a"))
    with Journal.open(was.session.folder, was.clock.now, read_only=True) as journal:
        done = changes(
            event.data for event in journal.read() if isinstance(event.data, ArtifactObserved)
        )
    store = SessionStore(tmp_path / "home")
    fork = await stage(
        tmp_path, [], journal=lambda: store.rewind(was.session.folder, 1, was.clock.now)
    )
    undos = plan(done, fork.session.cwd, fork.session.folder)
    assert await fork.session.files.undo(undos) == "Undone: a.py."
    assert not (tmp_path / "work/a.py").exists()
    (seen,) = fork.events_of(ArtifactObserved)
    assert (seen.uri, seen.op, seen.backup) == ("a.py", "delete", blob_hash(b"a"))
    assert Blobs(fork.session.folder).read(blob_hash(b"a")) == b"a"
    with pytest.raises(ToolError):
        await fork.session.files.undo(undos)
    assert len(fork.events_of(ArtifactObserved)) == 1

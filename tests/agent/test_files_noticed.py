"""What others do to the files that a session knows is noticed before the model reads on."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.files_listed import files_listed
from msgspec.structs import replace

from fakes.agent import MODEL, Stage, stage
from fakes.provider import Step, calls, says
from pinfold.agent.options import Options
from pinfold.compaction.view import PlanOptions
from pinfold.ports.errors import ContextOverflow
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ArtifactObserved
from pinfold.rollout.journal import Journal
from pinfold.tools import workspace
from pinfold.tools.workspace import blob_hash

FULL = Options(approvals="full", auto="off", compact=PlanOptions(max_tail_messages=2))
LOOK = "Check it again before you rely on it."
FACT = {
    "kind": "fact",
    "key": "port",
    "value": "8080",
    "evidence": {"source": "file", "ref": "a.py"},
    "dependsOn": ["a.py"],
}


def write(path: str, content: str) -> tuple[str, str, str]:
    return f"w-{path}", "write_file", json.dumps({"path": path, "content": content})


def read(path: str) -> tuple[str, str, str]:
    return f"r-{path}", "read_file", json.dumps({"path": path})


def shell(command: str) -> tuple[str, str, str]:
    return f"s-{command}", "shell", json.dumps({"command": command})


def learn() -> tuple[str, str, str]:
    return "learn", "memory_apply", json.dumps(FACT)


def found(at: Stage) -> list[tuple[str, str, str | None]]:
    """What was journalled of files that no tool of ours touched."""
    return [
        (event.uri, event.op, event.hash)
        for event in at.events()
        if isinstance(event, ArtifactObserved) and event.kind == "file" and event.item is None
    ]


def notices(at: Stage, request: int = -1) -> list[str]:
    """What that request tells the model of it."""
    items = at.provider.requests[request].items
    return [item.content for item in items if item.kind == "checkpoint"]


async def ask(at: Stage, *script: list[Step]) -> None:
    at.provider.script += script
    await at.say("go on")


async def knows(root: Path, *script: list[Step], model: ModelInfo = MODEL) -> Stage:
    """A session that has written a.py, and then goes on with `script`."""
    script = (calls(write("a.py", "PORT = 8080\n")), *script)
    at = await stage(root, script, options=FULL, model=model)
    await at.say("go")
    return at


async def test_a_file_that_the_user_saves_in_mid_turn_is_told_once_before_the_model_reads_on(
    tmp_path: Path,
) -> None:
    gate = asyncio.Event()
    waits = [*calls(shell("true")), gate]
    at = await stage(
        tmp_path,
        [calls(write("a.py", "PORT = 8080\n")), waits, calls(shell("true")), says("Done.")],
        options=FULL,
    )
    at.session.send("go")
    await at.until(lambda: len(at.provider.requests) == 2)
    (tmp_path / "work/a.py").write_text("PORT = 9090\n")
    gate.set()
    await at.session.idle()
    told = f"[Changed since you last saw it: a.py. {LOOK}]"
    assert [notices(at, n) for n in range(4)] == [[], [], [told], [told]]
    assert found(at) == [("a.py", "read", blob_hash(b"PORT = 9090\n"))]


async def test_what_our_own_tools_write_is_no_news(tmp_path: Path) -> None:
    edit = {"path": "a.py", "old_string": "8080", "new_string": "8081"}
    at = await knows(
        tmp_path,
        calls(("e", "edit_file", json.dumps(edit)), read("a.py")),
        calls(write("a.py", "PORT = 1\n")),
        says("Done."),
    )
    assert found(at) == []
    assert notices(at) == []


async def test_what_a_command_did_to_a_known_file_is_news(tmp_path: Path) -> None:
    command = shell("echo >> a.py; echo > unknown.py")
    at = await knows(tmp_path, calls(command), says("Done."))
    assert [uri for uri, _, _ in found(at)] == ["a.py"]
    assert "a.py" in notices(at)[0]


async def test_between_prompts_too_and_before_the_prompt(tmp_path: Path) -> None:
    at = await knows(tmp_path, says("Done."))
    (tmp_path / "work/a.py").unlink()
    await ask(at, says("I see."))
    assert [item.kind for item in at.provider.requests[-1].items][-2:] == ["checkpoint", "user"]
    assert notices(at) == [f"[Gone: a.py. {LOOK}]"]
    assert found(at) == [("a.py", "delete", None)]


async def test_facts_turn_suspect_and_back(tmp_path: Path) -> None:
    at = await knows(tmp_path, calls(learn()), says("Done."))
    status = []
    for content in ("PORT = 8080\n", "PORT = 9090\n", "PORT = 8080\n"):
        (tmp_path / "work/a.py").write_text(content)
        checkpoint = (await at.session.compaction.known()).checkpoint
        status.append(checkpoint.facts["port"].status)
    assert status == ["VALID", "SUSPECT", "VALID"]


async def test_a_compaction_knows_and_the_next_request_tells(tmp_path: Path) -> None:
    talk = [says("word " * 2_500)] * 6
    model = replace(MODEL, context_window=32_000)
    at = await knows(tmp_path, calls(learn()), says("Done."), *talk, model=model)
    for _ in talk:
        await ask(at)
    (tmp_path / "work/a.py").write_text("PORT = 9090\n")
    draft = await at.session.compaction.draft("checkpoint")
    text = draft.plan.inserted[0].content
    assert "[FACTS, to be checked: a file they depend on changed]" in text
    assert '- port: said by a.py: "PORT = 8080" (#3)' in text
    assert files_listed(text) == {"a.py": "changed"}
    assert blob_hash(b"PORT = 8080\n")[:12] not in text
    assert blob_hash(b"PORT = 9090\n")[:12] not in text, "it has not read that one"
    assert [item.kind for item in at.session.items].count("checkpoint") == 0, "a preview only"
    await ask(at, says("I see."))
    assert ["Changed since" in text for text in notices(at)] == [True]
    assert len(found(at)) == 1


async def test_an_overflow_that_is_compacted_is_told_too(tmp_path: Path) -> None:
    model = replace(MODEL, context_window=32_000)
    at = await knows(tmp_path, *[says("word " * 1_500)] * 6, model=model)
    for _ in range(5):
        await ask(at)
    at.session.set_threshold("auto")
    gate = asyncio.Event()
    at.provider.script += [[gate, ContextOverflow("too long")], says("It fits.")]
    before = len(at.provider.requests)
    at.session.send("go on")
    await at.until(lambda: len(at.provider.requests) > before)
    (tmp_path / "work/a.py").write_text("PORT = 9090\n")
    gate.set()
    await at.session.idle()
    assert at.ended == "done"
    assert any("Changed since you last saw it: a.py." in text for text in notices(at))


# What may be there instead


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


def _huge(path: Path) -> None:
    os.truncate(path, workspace.MAX_TEXT + 1)


def _same_elsewhere(path: Path) -> None:
    path.rename(path.parent / "moved.py")
    path.symlink_to("moved.py")


def _saved_anew(path: Path) -> None:
    path.write_bytes(path.read_bytes())


@pytest.mark.parametrize(
    ("become", "op"),
    [
        (_folder, "delete"),
        (_pipe, "delete"),
        (_circle, "delete"),
        (_dangling, "delete"),
        (_huge, "read"),
        (_same_elsewhere, None),
        (_saved_anew, None),
    ],
)
async def test_whatever_became_of_it_is_told_once_and_stops_nothing(
    tmp_path: Path, become: Callable[[Path], None], op: str | None
) -> None:
    at = await knows(tmp_path, says("Done."))
    become(tmp_path / "work/a.py")
    for _ in range(2):
        await ask(at, says("On."))
    assert found(at) == ([("a.py", op, None)] if op else [])
    assert len(notices(at)) == (1 if op else 0)
    assert at.ended == "done"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_file_that_may_not_be_read_any_more_is_in_doubt(tmp_path: Path) -> None:
    at = await knows(tmp_path, says("Done."))
    (tmp_path / "work/a.py").chmod(0)
    await ask(at, says("On."))
    assert found(at) == [("a.py", "read", None)]


async def test_a_file_that_is_back_is_news(tmp_path: Path) -> None:
    at = await knows(tmp_path, calls(shell("rm a.py")), says("Done."))
    (tmp_path / "work/a.py").write_text("back")
    await ask(at, says("On."))
    assert [op for _, op, _ in found(at)] == ["delete", "read"]


async def test_an_old_time_brought_along_hides_no_change(tmp_path: Path) -> None:
    at = await knows(tmp_path, says("Done."))
    file = tmp_path / "work/a.py"
    status = file.stat()
    file.write_text("PORT = 9090\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    await ask(at, says("On."))
    assert len(found(at)) == 1


async def test_a_file_whose_stamp_is_known_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "SETTLED_NS", -1)  # every change is long ago
    at = await knows(tmp_path, says("Done."))
    read_again: list[Path] = []
    hash_file = workspace.hash_file
    monkeypatch.setattr(
        workspace, "hash_file", lambda path: (read_again.append(path), hash_file(path))[1]
    )
    for _ in range(3):
        await ask(at, says("On."))
    assert len(read_again) <= 1


async def test_a_session_that_is_open_to_read_only_writes_nothing(tmp_path: Path) -> None:
    at = await knows(tmp_path, says("Done."))
    await at.session.close()
    (tmp_path / "work/a.py").write_text("PORT = 9090\n")
    again = await at.again(options=FULL, read_only=True)
    await again.session.compaction.known()
    assert found(again) == []


async def test_files_of_a_recording_that_is_played_are_not_looked_for_here(tmp_path: Path) -> None:
    at = await knows(tmp_path, says("Done."))
    await at.session.close()
    with Journal.open(at.session.folder, at.clock.now, read_only=True) as journal:
        events = list(journal.read())
    (tmp_path / "work/a.py").unlink()
    played = await stage(tmp_path, [], options=FULL)
    played.session.play(events, 0)
    await played.session.idle()
    await played.session.compaction.known()
    assert found(played) == []

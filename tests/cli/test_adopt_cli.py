"""`pinfold adopt`, as a process of its own: what is adopted, listed, and refused."""

import json
import os
from pathlib import Path

import pytest

from fakes.foreign import Codex, codex_session
from fakes.foreign_claude import claude_session
from fakes.process import Ended, Pinfold
from pinfold.cli import run
from pinfold.rollout.codec import decode
from pinfold.rollout.events import ItemAdded, ItemsMarked, SessionStarted


@pytest.fixture
def pinfold(tmp_path: Path) -> Pinfold:
    """With one session of Codex and one of Claude Code in the user's home."""
    codex = tmp_path / ".codex" / "sessions" / "2026" / "03" / "01" / "rollout-a.jsonl"
    claude = tmp_path / ".claude" / "projects" / "-home-ada-p" / "s-1.jsonl"
    for file, lines in (
        (codex, codex_session().encoded()),
        (claude, claude_session().encoded()),
    ):
        file.parent.mkdir(parents=True)
        file.write_bytes(b"".join(lines))
    os.utime(codex, (1_700_000_000, 1_700_000_000))
    return Pinfold(tmp_path)


def codex_file(pinfold: Pinfold) -> Path:
    (file,) = pinfold.home.parent.glob(".codex/**/*.jsonl")
    return file


def told(ended: Ended) -> str:
    """The one line on stderr."""
    (line,) = ended.err.splitlines()
    return line


async def test_a_file_is_adopted_and_said_in_a_line(pinfold: Pinfold) -> None:
    file = codex_file(pinfold)
    before = file.read_bytes()
    ended = await pinfold.run("adopt", str(file))
    assert ended.code == 0, ended.err
    said, on = ended.out.splitlines()
    assert said == (
        "Adopted from Codex: “Fix the test.”, 20 items, 3 windows. "
        "Its folder /p does not exist here; working in ~/work."
    )
    (rollout,) = pinfold.rollouts()
    assert on == (
        f"Session {rollout.parent.name} saved. Resume with: "
        f"pinfold resume {rollout.parent.name[:13]}"
    )
    first = decode(rollout.read_bytes().splitlines()[0]).data
    assert isinstance(first, SessionStarted)
    assert first.cwd == str(pinfold.work)  # the one it had is not here
    assert first.adopted is not None
    assert first.adopted.file == str(file)
    assert file.read_bytes() == before


async def test_what_set_codex_up_is_folded_once(pinfold: Pinfold) -> None:
    made = Codex()
    made.meta(cwd=str(pinfold.work))
    made.message("developer", "<permissions instructions>\nAll.")
    made.message("user", "# AGENTS.md instructions for /p\n\nBe kind.")
    made.turn_context()
    made.user("Fix the test.")
    made.message("user", "<turn_aborted>\nThe user stopped it.")
    made.message("user", "<environment_context>\n/p")
    file = pinfold.work / "c.jsonl"
    file.write_bytes(b"".join(made.encoded()))
    ended = await pinfold.run("adopt", str(file))
    said = ended.out.splitlines()[0]
    assert "3 items of Codex's own instructions are folded" in said
    assert "/unfold 1..2, 5 brings them back." in said
    assert "does not exist" not in said
    (rollout,) = pinfold.rollouts()
    *_, last = (decode(line).data for line in rollout.read_bytes().splitlines())
    assert isinstance(last, ItemsMarked)
    assert last.items == ((1, "placeholder"), (2, "placeholder"), (5, "placeholder"))
    again = await pinfold.run("adopt", str(file))
    assert again.out.startswith("Adopted before, and unchanged since")


def rollout_of_ours(pinfold: Pinfold, cwd: Path) -> Path:
    """A rollout of pinfold's that a stranger wrote, with consent of theirs in it."""
    started = {"schema": 1, "id": "0197-x", "cwd": str(cwd), "version": "1"}
    item = {"n": 1, "kind": "user", "content": "Go."}
    data = [
        ("session_started", started),
        ("approval_decided", {"call_id": "c", "verdict": "always", "prefix": "bash"}),
        ("approval_decided", {"call_id": "c", "verdict": "always", "prefix": 7}),
        ("item_added", {"item": item}),
    ]
    lines = [
        json.dumps({"seq": n, "ts": "2026-03-02T00:00:00Z", "type": name, "data": value})
        for n, (name, value) in enumerate(data, 1)
    ]
    file = pinfold.work / "ours.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


async def test_a_file_brings_no_consent(pinfold: Pinfold) -> None:
    file = rollout_of_ours(pinfold, pinfold.work)
    ended = await pinfold.run("adopt", str(file))
    assert ended.code == 0, ended.err
    (rollout,) = pinfold.rollouts()
    lines = rollout.read_text().splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["session_started", "item_added"]
    again = await pinfold.run("adopt", str(file))
    assert again.out.startswith("Adopted before, and unchanged since")


async def test_a_file_does_not_choose_the_folder(pinfold: Pinfold) -> None:
    there = pinfold.work.parent / "there"
    there.mkdir()
    file = rollout_of_ours(pinfold, there)
    ended = await pinfold.run("adopt", str(file))
    assert ended.out.splitlines()[0].endswith(
        " It worked in ~/there; this session works in ~/work. --use-its-folder continues there."
    )
    agreed = await pinfold.run("adopt", str(file), "--use-its-folder")
    assert agreed.out.startswith("Adopted from pinfold")
    assert "It worked in" not in agreed.out
    folders = {
        json.loads(rollout.open().readline())["data"]["cwd"] for rollout in pinfold.rollouts()
    }
    assert folders == {str(pinfold.work), str(there)}
    again = await pinfold.run("adopt", str(file))
    assert again.out.startswith("Adopted before")


async def test_adopt_may_be_left_out(pinfold: Pinfold) -> None:
    file = codex_file(pinfold)
    (pinfold.work / "own.jsonl").write_bytes(file.read_bytes())
    ended = await pinfold.run("--model", "gpt-5", "own.jsonl", "--no-open")
    assert "Adopted from Codex" in ended.out, ended.err


async def test_what_was_not_understood_is_counted(pinfold: Pinfold) -> None:
    made = codex_session()
    made.event("from_the_future")
    made.event("from_the_future")
    file = pinfold.work / "new.jsonl"
    file.write_bytes(b"".join(made.encoded()))
    ended = await pinfold.run("adopt", "new.jsonl")
    assert "Not understood: event_msg from_the_future ×2." in ended.out


async def test_it_is_adopted_once_until_someone_goes_on(pinfold: Pinfold) -> None:
    file = codex_file(pinfold)
    first = await pinfold.run("adopt", str(file))
    again = await pinfold.run("adopt", str(file))
    assert again.out.startswith("Adopted before, and unchanged since: Codex")
    assert again.out.splitlines()[1] == first.out.splitlines()[1]
    (rollout,) = pinfold.rollouts()
    lines = rollout.read_bytes().splitlines()
    seq = decode(lines[-1]).seq + 1
    item = {"n": 90, "kind": "user", "content": "And now?"}
    event = {"seq": seq, "ts": "2026-03-02T00:00:00Z", "type": "item_added", "data": {"item": item}}
    rollout.write_bytes(b"\n".join([*lines, json.dumps(event).encode(), b""]))
    assert (await pinfold.run("adopt", str(file))).out.startswith("Adopted from Codex")
    assert len(pinfold.rollouts()) == 2


async def test_a_file_that_grew_is_adopted_anew(pinfold: Pinfold) -> None:
    file = codex_file(pinfold)
    await pinfold.run("adopt", str(file))
    made = codex_session()
    made.user("One thing more.")
    file.write_bytes(b"".join(made.encoded()))
    assert (await pinfold.run("adopt", str(file))).out.startswith("Adopted from Codex")


async def test_one_of_several_conversations_is_chosen(pinfold: Pinfold) -> None:
    several = [[{"role": "user", "content": text}] for text in ("first", "second")]
    (pinfold.work / "many.json").write_text(json.dumps(several))
    ended = await pinfold.run("adopt", "many.json", "--index", "1")
    assert "“second”" in ended.out
    ended = await pinfold.run("adopt", "many.json", "--index", "2")
    assert ended.code == 1
    assert "2 conversations" in told(ended)


async def test_alone_it_lists_newest_first(pinfold: Pinfold) -> None:
    ended = await pinfold.run("adopt")
    assert ended.code == 0, ended.err
    _, claude, codex, _ = ended.out.splitlines()
    assert claude.split()[:2] == ["s-1", "claude"]
    assert "Tests and changelog" in claude
    assert codex.split()[:2] == ["019-a", "codex"]
    assert "Fix the test." in codex
    lines = (await pinfold.run("adopt", "--json")).out.splitlines()
    listed = [json.loads(line) for line in lines]
    assert [session["title"] for session in listed] == ["Tests and changelog", "Fix the test."]
    assert (listed[1]["used"], listed[1]["limit"]) == (2_007, 258_400)
    assert listed[1]["full"] == 2_007 / 258_400
    assert listed[1]["cwd"] == "/p"


async def test_a_title_or_an_id_is_as_good_as_a_file(pinfold: Pinfold) -> None:
    for words in (["019"], ["fix", "test"]):
        ended = await pinfold.run("adopt", *words)
        assert "Codex: “Fix the test.”" in ended.out, ended.err
    ended = await pinfold.run("adopt", "xylophone")
    assert ended.code == 1
    assert "No file and no Codex or Claude Code session matches “xylophone”" in told(ended)


async def test_without_other_tools_it_says_where_it_looked(tmp_path: Path) -> None:
    ended = await Pinfold(tmp_path, CODEX_HOME=str(tmp_path / "elsewhere")).run("adopt")
    assert ended.code == 0
    assert "~/elsewhere or ~/.claude" in ended.out


def ring(file: Path) -> None:
    file.symlink_to(file)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda file: None, "No such file"),
        (Path.mkdir, "is a folder"),
        (Path.touch, "is empty"),
        (lambda file: file.write_bytes(b"\x7fELF\0\0"), "is not text"),
        (lambda file: file.write_text("dear diary\n"), "is not a session pinfold can read"),
        (lambda file: file.write_text("[\n{}\n]"), "no list of messages"),
        (ring, "symbolic links"),
        (os.mkfifo, "is not a file"),
    ],
)
@pytest.mark.parametrize("command", ["adopt", "context", "export", "replay"])
def test_what_is_no_session_gets_one_plain_line(
    pinfold: Pinfold,
    make: object,
    why: str,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, value in pinfold.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(pinfold.work)
    make(pinfold.work / "odd.jsonl")  # type: ignore[operator]
    assert run([command, "odd.jsonl"]) == (2 if (command, why) == ("export", "is a folder") else 1)
    (line,) = capfd.readouterr().err.splitlines()
    assert why in line
    assert not pinfold.rollouts()


async def test_closed_streams_are_no_trouble(pinfold: Pinfold) -> None:
    ended = await pinfold.run("adopt", "--no-open", str(codex_file(pinfold)), closed=(0, 1))
    assert ended.code == 0, ended.err
    assert len(pinfold.rollouts()) == 1


async def test_an_export_of_a_file_is_a_journal_of_ours(pinfold: Pinfold) -> None:
    file = codex_file(pinfold)
    printed = await pinfold.run("export", str(file))
    events = [decode(line) for line in printed.out.encode().splitlines()]
    items = [event.data for event in events if isinstance(event.data, ItemAdded)]
    assert items[2].item.content == "Fix the test."
    await pinfold.run("export", str(file), "-o", "out.jsonl")
    assert (pinfold.work / "out.jsonl").read_text() == printed.out


async def test_the_doctor_counts_them(pinfold: Pinfold) -> None:
    ended = await pinfold.run("doctor")
    assert "1 session in ~/.codex" in ended.out
    assert "1 session in ~/.claude" in ended.out

"""`pinfold eval FILES`: files and folders of them, one plain line for each that can't be read."""

import json
from pathlib import Path

import pytest

from fakes.compactions import working
from fakes.foreign import codex_session
from pinfold.cli import run
from pinfold.rollout.events import ItemAdded

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def messages(turns: int) -> list[dict[str, object]]:
    """A conversation as OpenAI messages."""
    found: list[dict[str, object]] = []
    for data in working(turns):
        if not isinstance(data, ItemAdded):
            continue
        item = data.item
        call = f"{item.call_id}{item.response}"
        match item.kind:
            case "tool_call":
                function = {"name": item.name, "arguments": item.content}
                calls = [{"id": call, "type": "function", "function": function}]
                found.append({"role": "assistant", "content": None, "tool_calls": calls})
            case "tool_result":
                found.append({"role": "tool", "tool_call_id": call, "content": item.content})
            case "user" | "assistant" as role:
                found.append({"role": role, "content": item.content})
    return found


@pytest.fixture
def file(folder: Path) -> Path:
    path = folder / "talks" / "talk.json"
    path.parent.mkdir()
    path.write_text(json.dumps(messages(12)))
    return path


def test_a_table_for_each_session_and_over_all(file: Path, capsys: Out) -> None:
    assert run(["eval", str(file), "--budget", "1000"]) == 0
    told = capsys.readouterr()
    assert "talk.json (messages, 84 items, 1 cut)" in told.out
    assert "All 1 session, 1 cut" in told.out
    assert max(map(len, told.out.splitlines())) <= 80
    assert told.err == ""


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (["--model", "m"], "remove --model"),
        (["--judge", "m"], "remove --judge"),
        (["--strategy", "handoff"], "use a model"),
    ],
)
def test_what_only_a_model_could_do_is_refused(
    file: Path, capsys: Out, asked: list[str], why: str
) -> None:
    assert run(["eval", str(file), *asked]) == 2
    told = capsys.readouterr()
    assert why in told.err
    assert told.out == ""


def test_those_are_tried_that_are_named_and_need_no_model(file: Path, capsys: Out) -> None:
    names = ["--strategy", "tail", "--strategy", "checkpoint", "--strategy", "core"]
    assert run(["eval", str(file), "--budget", "1000", "--json", *names]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["strategy"] for row in found["rows"]] == ["tail", "checkpoint"]
    assert found["sessions"][0]["cuts"][0]["made"][0]["tokens"] > 0


def test_a_bad_file_gets_one_plain_line_and_the_others_go_on(file: Path, capsys: Out) -> None:
    (file.parent / "notes.json").write_text('{"no": "session"}')
    assert run(["eval", str(file.parent), str(file), "absent.json", "--budget", "1000"]) == 1
    told = capsys.readouterr()
    assert "All 1 session" in told.out
    assert len(told.err.splitlines()) == 3
    assert "notes.json" in told.err
    assert "absent.json" in told.err
    assert "2 failed" in told.err


def test_all_conversations_of_a_file_are_tried(file: Path, capsys: Out) -> None:
    file.write_text(json.dumps([messages(12), messages(10)]))
    assert run(["eval", str(file), "--budget", "1000"]) == 0
    told = capsys.readouterr().out
    assert "talk.json --index 1 (messages" in told
    assert "All 2 sessions" in told


def test_only_a_rollout_counts_in_a_session_folder_of_ours(
    file: Path, folder: Path, capsys: Out
) -> None:
    assert run(["adopt", str(file), "--no-open"]) == 0
    capsys.readouterr()
    assert run(["eval", str(folder / "home"), "--budget", "1000"]) == 0
    told = capsys.readouterr()
    assert "(pinfold, 84 items, 1 cut)" in told.out
    assert told.err == ""


def test_the_users_own_codex_sessions_the_newest(folder: Path, capsys: Out) -> None:
    where = folder / "codex" / "sessions" / "2026" / "01" / "02"
    where.mkdir(parents=True)
    for name in ("one", "two"):
        (where / f"rollout-{name}.jsonl").write_bytes(b"".join(codex_session().encoded()))
    assert run(["eval", "--codex", "--limit", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [session["tool"] for session in found["sessions"]] == ["codex"]


def test_where_nothing_can_be_read_it_fails_with_a_reason(capsys: Out) -> None:
    assert run(["eval", "--claude"]) == 1
    assert capsys.readouterr().err == "pinfold: No sessions found.\n"


def test_the_report_of_either_kind(file: Path, folder: Path, capsys: Out) -> None:
    assert run(["eval", str(file), "--budget", "1000", "--html", "files.html"]) == 0
    small = ["--trials", "1", "--compactions", "1", "--budget", "1500", "--conversations", "1"]
    assert run(["eval", *small, "--strategy", "tail", "--html", "made-up.html"]) == 0
    assert "Report written to made-up.html." in capsys.readouterr().err
    assert "What compaction keeps of recorded sessions" in (folder / "files.html").read_text()
    assert "What each compaction keeps" in (folder / "made-up.html").read_text()


def test_a_report_that_cannot_be_written(file: Path, capsys: Out) -> None:
    assert run(["eval", str(file), "--html", "absent/files.html"]) == 1
    assert "absent/files.html" in capsys.readouterr().err


def test_what_the_columns_mean(file: Path, capsys: Out) -> None:
    assert run(["eval", str(file), "--explain"]) == 0
    assert "word for word" in capsys.readouterr().out

"""`pinfold context`: what fills a window, of a session or of any file, with nothing written."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakes.foreign import codex_session
from fakes.foreign_claude import claude_session
from pinfold.cli import run
from pinfold.rollout.events import ItemAdded, TurnStarted
from pinfold.rollout.items import Item
from pinfold.rollout.store import SessionStore

Out = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(home: Path, tmp_path: Path) -> Path:
    (tmp_path / "codex.jsonl").write_bytes(b"".join(codex_session().encoded()))
    (tmp_path / "claude.jsonl").write_bytes(b"".join(claude_session().encoded()))
    return tmp_path


def shown(capsys: Out, *arguments: str) -> Any:
    assert run(["context", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_file_is_shown_item_by_item(folder: Path, capsys: Out) -> None:
    assert run(["context", "codex.jsonl"]) == 0
    first, second, *_, last = capsys.readouterr().out.splitlines()
    assert "of 258,400 tokens" in first
    assert "5 items" in second
    assert "window 2" in second
    assert last.split()[:2] == ["#21", "result"]
    assert "original session has no result" in last
    assert not (folder / "home").exists()


def test_json_has_the_reading_and_every_row(capsys: Out) -> None:
    found = shown(capsys, "claude.jsonl")
    reading = found["reading"]
    assert reading["limit"] == 1_000_000
    assert sum(tokens for _, tokens in reading["segments"]) == reading["used"]
    assert [row["kind"] for row in found["rows"]][-3:] == ["tool_call", "tool_result", "assistant"]


def test_the_last_report_of_a_file_is_its_gauge(folder: Path, capsys: Out) -> None:
    made = codex_session()
    made.result("call_5", "README.md")
    made.assistant("There is no changelog yet.")
    made.tokens(31_337)
    (folder / "codex.jsonl").write_bytes(b"".join(made.encoded()))
    reading = shown(capsys, "codex.jsonl")["reading"]
    assert (reading["used"], reading["source"]) == (31_337 + 7, "measured")


def test_rows_by_size(capsys: Out) -> None:
    found = shown(capsys, "claude.jsonl", "--sort", "size")
    sizes = [row["tokens"] for row in found["rows"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes != [row["tokens"] for row in shown(capsys, "claude.jsonl")["rows"]]


def test_another_model_has_another_window(capsys: Out) -> None:
    found = shown(capsys, "claude.jsonl", "--model", "gpt-4o")
    assert found["reading"]["limit"] == 128_000
    assert found["reading"]["source"] == "estimated"


def test_a_list_of_messages_takes_the_configured_model(folder: Path, capsys: Out) -> None:
    (folder / "m.json").write_text(json.dumps([{"role": "user", "content": "Hello."}]))
    assert shown(capsys, "m.json")["reading"]["limit"] == 272_000
    assert shown(capsys, "m.json", "-c", "model.name=gpt-4o")["reading"]["limit"] == 128_000


def test_a_session_is_named_by_its_id_or_as_the_last(folder: Path, capsys: Out) -> None:
    def now() -> datetime:
        return datetime.now(UTC)

    with SessionStore(folder / "home").create(folder, "test", now) as journal:
        journal.append(TurnStarted(turn=1))
        journal.append(ItemAdded(item=Item(n=1, kind="user", content="mend the parser")))
    before = journal.path.read_bytes()
    for name in (journal.folder.name[:13], "--last"):
        (row,) = shown(capsys, name)["rows"]
        assert (row["kind"], row["words"]) == ("user", "mend the parser")
    assert journal.path.read_bytes() == before


@pytest.mark.parametrize("arguments", [[], ["codex.jsonl", "--last"]])
def test_it_wants_one_thing_to_look_at(arguments: list[str], capsys: Out) -> None:
    assert run(["context", *arguments]) == 2
    assert "name a session or a file, or use --last" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["context"], ["compact", "--dry-run"], ["checkpoint"]])
def test_a_file_that_ends_in_the_middle_of_a_line_is_told_of(
    folder: Path, capsys: Out, command: list[str]
) -> None:
    whole = (folder / "codex.jsonl").read_bytes()
    (folder / "torn.jsonl").write_bytes(whole + b'{"type": "resp')
    run([*command, "codex.jsonl"])
    assert "half-written" not in capsys.readouterr().err
    run([*command, "torn.jsonl"])
    assert "pinfold: torn.jsonl: The last line is half-written.\n" in capsys.readouterr().err

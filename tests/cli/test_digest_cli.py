"""`pinfold digest`: what was said and done in a session of any tool, printed."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.foreign import Codex, codex_session
from fakes.foreign_claude import claude_session
from pinfold.__main__ import main
from pinfold.agent.clock import CLOCK
from pinfold.cli import run
from pinfold.other_agents import guard
from pinfold.rollout.events import ItemAdded, TurnStarted
from pinfold.rollout.items import Item
from pinfold.rollout.store import SessionStore

KEY = "gh" + "p_" + "aB3dE5fG7hJ9kLmN1pQ2" + "aB3dE5fG7hJ9kLmN"
Told = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("home")


def lines(made: Codex) -> bytes:
    return b"".join(made.encoded())


def test_a_file_of_any_tool_and_standard_input_give_the_same_bytes(
    tmp_path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = lines(codex_session())
    (tmp_path / "a.jsonl").write_bytes(content)
    assert run(["digest", "a.jsonl"]) == 0
    told = capsys.readouterr()
    assert "USER: Fix the test." in told.out
    assert told.err == ""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert run(["digest", "-"]) == 0
    assert capsys.readouterr() == told
    claude = "".join(json.dumps(line) + "\n" for line in claude_session().lines)
    (tmp_path / "b.jsonl").write_text(claude)
    assert run(["digest", "b.jsonl"]) == 0
    assert "#1 USER: " in capsys.readouterr().out
    messages = [{"role": "user", "content": "What is 6 times 7?"}]
    (tmp_path / "c.json").write_text(json.dumps(messages))
    assert run(["digest", "c.json"]) == 0
    assert capsys.readouterr().out == "#1 USER: What is 6 times 7?\n"


def test_a_session_is_named_by_the_start_of_its_id(
    home: Path, tmp_path: Path, capsys: Told
) -> None:
    with SessionStore(home).create(tmp_path, "0", CLOCK.now) as journal:
        journal.append(TurnStarted(turn=1))
        journal.append(ItemAdded(item=Item(n=1, kind="user", content="Hello there.", turn=1)))
    for named in ([journal.path.parent.name[:30]], []):
        assert run(["digest", *named]) == 0
        assert capsys.readouterr().out == "#1 USER: Hello there.\n"
    folder = tmp_path / "codex" / "sessions" / "2026" / "03" / "01"
    folder.mkdir(parents=True)
    (folder / "rollout-2026-03-01T12-00-00-019dabcd.jsonl").write_bytes(lines(codex_session()))
    assert run(["digest", "019dab"]) == 0
    assert "USER: Fix the test." in capsys.readouterr().out
    for wrong, code in ((["019eee"], 1), (["019dab", "--tokens", "0"], 2)):
        assert run(["digest", *wrong]) == code
        assert capsys.readouterr().err.count("\n") == 1


def test_secrets_are_replaced_in_each_line_that_holds_them(tmp_path: Path, capsys: Told) -> None:
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    rows = [f"{row}{'Zx8/qP3mWv7Tn2Lk' * 3}{row}kY4+" for row in range(9)]
    made = codex_session()
    made.user(f"Use {KEY} and password=hunter2hunter2.")
    made.call("c9", "cat key.pem")
    made.result("c9", "\n".join([begin, *rows, end]))
    made.assistant(f"I used {KEY}, and the line {rows[4]} of the key.")
    (tmp_path / "a.jsonl").write_bytes(lines(made))
    assert run(["digest", "a.jsonl"]) == 0
    told = capsys.readouterr().out
    assert "Use [secret: GitHub Token 1] and" in told
    for secret in (KEY, "hunter2hunter2", "Zx8/qP3mWv7Tn2Lk"):
        assert secret not in told
    assert run(["digest", "a.jsonl", "--no-redact"]) == 0
    assert KEY in capsys.readouterr().out


def test_json_says_what_stands_and_what_was_left_out(tmp_path: Path, capsys: Told) -> None:
    made = codex_session()
    for turn in range(60):
        made.user(f"Set queue_{turn} to {turn * 7919 % 9973} messages.")
    (tmp_path / "a.jsonl").write_bytes(lines(made))
    assert run(["digest", "a.jsonl", "--json", "--tokens", "300"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert 250 < told["tokens"] <= 300
    assert told["tool"] == "codex"
    assert told["lines"][-1] == {
        "n": told["lines"][-1]["n"],
        "kind": "user",
        "text": "Set queue_59 to 8463 messages.",
    }
    assert told["left_out"]["user"] > 20
    assert run(["digest", "a.jsonl", "--tokens", "300"]) == 0
    assert "Set queue_59 to 8463 messages." in capsys.readouterr().out


HEAVY = """
import sys

from pinfold.__main__ import main
from pinfold.other_agents.answer import answer

code = main(["digest", "a.jsonl"])
answer(sys.argv[1].encode(), 8_000)
heavy = {"textual", "rich", "openai", "httpx", "httpx2", "pydantic", "sqlalchemy"}
sys.exit(code or heavy & sys.modules.keys() or 0)
"""


def compacted(tmp_path: Path) -> str:
    (tmp_path / "a.jsonl").write_bytes(lines(codex_session()))
    return json.dumps({"source": "compact", "transcript_path": "a.jsonl", "cwd": str(tmp_path)})


def test_neither_the_screen_nor_an_sdk_is_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HEAVY, compacted(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "USER: Fix the test." in done.stdout


def test_a_hook_is_answered_on_standard_output(
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 60)  # on a machine that does other things too
    given = compacted(tmp_path)
    for options in ([], ["--tokens", "4000"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        assert main(["digest", "--hook", *options]) == 0
        told = capfd.readouterr()
        output = json.loads(told.out)["hookSpecificOutput"]
        assert output["hookEventName"] == "SessionStart"
        assert "USER: Fix the test." in output["additionalContext"]
        assert told.err == ""
    assert not (home / "hook.log").exists()

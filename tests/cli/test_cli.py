"""The command line in this process: faults are told, and what the lists leave out."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.process import Pinfold
from pinfold.cli import run
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.rollout.store import SessionStore

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize(
    ("env", "arguments", "code", "said"),
    [
        ({}, ["-C", "~nosuch", "doctor"], 2, "~nosuch is not a folder"),
        ({"PINFOLD_HOME": "~nosuch"}, ["sessions"], 2, "PINFOLD_HOME"),
        ({"OPENAI_BASE_URL": "http://[::1"}, ["exec", "hi"], 2, "is not an http address"),
        (
            {"PINFOLD_PROVIDERS__X__BASE_URL": "http://a:port"},
            ["exec", "hi"],
            2,
            "The base_url of x",
        ),
        ({}, ["-c", "model.name=x", "-c", "model.name.y=z", "exec", "x"], 2, "both model.name"),
        ({}, ["exec", "--fork", "hi"], 2, "--fork needs the session"),
        ({}, ["demo", "--speed", "nan"], 2, "--speed"),
        ({}, ["exec", ""], 2, "the prompt is empty"),
        ({}, ["--config", "nonsense", "exec", "x"], 2, "SECTION.KEY=VALUE"),
        ({}, ["-C", "nowhere", "exec", "x"], 2, "is not a folder"),
        ({}, ["resume", "zzz"], 1, "There is no session"),
        ({}, ["replay", "nothing.jsonl"], 1, "can't be read"),
        ({}, ["-c", "model.context_window=many", "exec", "x"], 2, "must be a number, not 'many'"),
        ({}, ["-c", "nosuch.key=1", "exec", "x"], 2, "nosuch is not a section of settings"),
        ({}, ["-c", "agent.max_stesp=1", "sessions"], 2, "did you mean agent.max_steps?"),
    ],
)
def test_a_fault_is_one_plain_line(
    env: dict[str, str],
    arguments: list[str],
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert run(arguments) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_recording_nested_without_end_can_not_be_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "deep.jsonl"
    file.write_text('{"seq":1,"ts":"2026-01-01T00:00:00Z","type":"x","data":' + "[" * 100_000)
    assert run(["replay", str(file)]) == 1
    assert "is not a session" in capsys.readouterr().err


def test_the_doctor_reports_on_a_broken_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config" / "pinfold" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[model")
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    wrong = next(line for line in out.splitlines() if "✗ warning" in line)
    assert str(config) in wrong
    assert "not read" in out
    assert "Terminal" in out


def test_what_nobody_expected_is_called_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> int:
        raise KeyError("lost")

    monkeypatch.setattr("pinfold.wiring.session_list.command", broken)
    assert run(["sessions"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "please report it: KeyError" in line
    monkeypatch.setenv("PINFOLD_DEBUG", "1")
    with pytest.raises(KeyError):
        run(["sessions"])


def test_sessions_without_a_prompt_are_left_out(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def now() -> datetime:
        return datetime.now(UTC)

    store = SessionStore(home)
    with store.create(tmp_path, "test", now) as used:
        used.append(ItemAdded(item=Item(n=1, kind="user", content="mend the parser")))
    store.create(tmp_path, "test", now).close()
    assert run(["sessions"]) == 0
    out = capsys.readouterr().out
    assert "mend the parser" in out
    assert "Not shown: 1 without a prompt." in out
    run(["sessions", "--json"])
    assert len(capsys.readouterr().out.splitlines()) == 2


async def test_what_a_terminal_can_not_show_is_replaced(tmp_path: Path) -> None:
    ended = await Pinfold(tmp_path, PYTHONIOENCODING="ascii").run("eval", "--explain")
    assert (ended.code, ended.err) == (0, "")
    assert "?           The standard deviation over the trials" in ended.out

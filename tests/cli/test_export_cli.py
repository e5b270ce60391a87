"""`pinfold export`, on a session and on a file, in this process."""

from pathlib import Path

import pytest

from pinfold.adopt.detect import read
from pinfold.agent.clock import CLOCK
from pinfold.cli import run
from pinfold.rollout.events import ItemAdded, TurnStarted
from pinfold.rollout.items import Item
from pinfold.rollout.store import SessionStore
from pinfold.wiring.replaying import demo_file

KEY = "gh" + "p_" + "aB3dE5fG7hJ9kLmN1pQ2" + "aB3dE5fG7hJ9kLmN"


@pytest.fixture(autouse=True)
def work(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder to work in."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def session(home: Path) -> Path:
    """The rollout of a session that holds a secret."""
    with SessionStore(home).create(home, "0", CLOCK.now) as journal:
        journal.append(TurnStarted(turn=1))
        journal.append(ItemAdded(item=Item(n=1, kind="user", content=f"Try {KEY}", turn=1)))
    return journal.path


def test_a_session_goes_to_a_file_and_the_line_says_which(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", session.parent.name, "--format", "html"]) == 0
    (file,) = Path.cwd().iterdir()
    assert capsys.readouterr().out == f"Exported to {file}: 1 secret replaced.\n"
    assert KEY not in file.read_text()
    assert run(["export", session.parent.name, "--format", "html"]) == 1
    assert "exists already" in capsys.readouterr().err


def test_without_a_word_the_rollout_goes_to_standard_output(
    session: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["export", session.parent.name, "--no-redact"]) == 0
    told = capfdbinary.readouterr()
    assert told.out == session.read_bytes()
    assert told.err == b""
    assert run(["export", session.parent.name]) == 0
    told = capfdbinary.readouterr()
    assert told.out == session.read_bytes().replace(KEY.encode(), b"[secret: GitHub Token 1]")
    assert told.err == b"pinfold: 1 secret replaced\n"


def test_a_file_of_another_tool_becomes_a_document(tmp_path: Path) -> None:
    assert run(["export", str(demo_file()), "-f", "codex"]) == 0
    (rollout,) = Path.cwd().glob("rollout-*.jsonl")
    assert read(rollout).tool == "codex"
    assert run(["export", str(rollout), "-o", "again.md"]) == 0
    assert "The tests fail." in Path("again.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["-o", "a.pdf"], "has no known extension"),
        (["--window"], "always whole"),
        (["-f", "pdf"], "invalid choice"),
        (["--window", "--all"], "not allowed with"),
    ],
)
def test_wrong_use_is_said(
    session: Path, arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", session.parent.name, *arguments]) == 2
    assert why in capsys.readouterr().err

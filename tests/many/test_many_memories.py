"""`pinfold memories run` on sessions, folders and patterns; a thousand sessions by each command."""

import json
from pathlib import Path

import pytest
from benchmarks import made_up

from fakes.foreign import codex_session
from pinfold.cli import run

Out = pytest.CaptureFixture[str]
OFFLINE = ["-c", "memories.generate=offline", "-c", "memories.enabled=true"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PINFOLD_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pinfold_home"


def test_memories_are_made_of_the_sessions_that_are_named_once(home: Path, capsys: Out) -> None:
    one, *_ = made_up.write(home, 3)
    assert run(["memories", "run", str(one.parent), *OFFLINE]) == 0
    assert "1 session read without a model" in capsys.readouterr().out
    assert run(["memories", "run", f"{home}/sessions/2025/**", *OFFLINE]) == 0
    assert "2 sessions read without a model" in capsys.readouterr().out
    assert run(["memories", "run", str(home / "sessions"), *OFFLINE]) == 0
    assert "No session has changed" in capsys.readouterr().out
    talk = home.parent / "talk.jsonl"
    talk.write_bytes(b"".join(codex_session().encoded()))
    assert run(["memories", "run", "talk.jsonl", *OFFLINE]) == 1
    assert "1 file is no session of pinfold's" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_a_thousand_sessions_are_evaluated_exported_and_remembered(
    home: Path, tmp_path: Path, capsys: Out
) -> None:
    paths = list(made_up.write(home, 1_000))
    # Half-written lines and files that are no sessions lie among real ones too.
    paths[1].write_bytes(paths[1].read_bytes()[:-40])
    paths[2].write_bytes(b"no session")
    folder, jobs = str(home / "sessions"), ["--jobs", "2"]
    assert run(["eval", folder, "--budget", "2000", "--json", *jobs]) == 1
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert (len(found["sessions"]), len(found["unread"])) == (999, 1)
    assert str(paths[2]) in told.err
    out = tmp_path / "out"
    for new, unchanged in ((999, 0), (0, 999)):
        assert run(["export", folder, "-f", "html", "--out", str(out), *jobs]) == 1
        told = capsys.readouterr()
        known = f", {unchanged} unchanged since the last run" if unchanged else ""
        assert f"1,000 sessions: {new} new{known}, 1 failed" in told.err
    assert len(list(out.rglob("*.html"))) == 999
    assert run(["memories", "run", folder, *OFFLINE, *jobs]) == 0
    assert "999 sessions read without a model" in capsys.readouterr().out

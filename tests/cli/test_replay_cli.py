"""`pinfold replay` without a screen: what the compactions of a recording came to, or ours would."""

import json
from pathlib import Path

import pytest

from fakes.foreign import codex_session
from pinfold.cli import run


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "rollout.jsonl"
    file.write_bytes(b"\n".join(codex_session().encoded()))
    return file


def test_recorded_compactions_are_listed(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", str(recording)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "Compactions as they were recorded:"
    assert "headroom" in out[1]
    assert "codex" in out[2]
    assert not list(recording.parent.glob("home/sessions/**/*.jsonl"))


def test_ours_are_listed_in_their_place(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", str(recording), "--strategy", "checkpoint", "--threshold", "0.9"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out == [
        "Compactions by checkpoint at 90% of the usable window:",
        "Nothing was compacted.",
    ]


def test_as_json_each_has_its_line(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(recording), "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert told["strategy"] == "codex"
    assert told["archived"] + told["kept"] > 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--strategy", "magic"], "there is no strategy magic"),
        (["--strategy", "snapshot"], "snapshot needs a model, and a replay calls none"),
        (["--strategy", "hierarchical"], "snapshot needs a model"),
        (["--threshold", "7"], "--threshold is a share"),
        (["--speed", "nan"], "--speed takes a number"),
    ],
)
def test_wrong_use_is_one_plain_line(
    recording: Path, flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", str(recording), *flags]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line

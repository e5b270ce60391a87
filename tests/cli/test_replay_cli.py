"""`pinfold replay` without a screen: what the compactions of a recording came to, or ours would."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.foreign import codex_session


@pytest.fixture
def recording(home: Path, tmp_path: Path) -> Path:
    file = tmp_path / "rollout.jsonl"
    file.write_bytes(b"\n".join(codex_session().encoded()))
    return file


def test_compactions_are_listed(recording: Path, home: Path, say: Callable[..., str]) -> None:
    title, headings, row = say("replay", str(recording)).splitlines()
    assert title == "Compactions as they were recorded:"
    assert "headroom" in headings
    assert "codex" in row
    assert not list(home.glob("sessions/**/*.jsonl"))
    ours = ("--strategy", "checkpoint", "--threshold", "0.9")
    assert say("replay", str(recording), *ours).splitlines() == [
        "Compactions by checkpoint at 90% of the usable window:",
        "Nothing was compacted.",
    ]
    compaction = json.loads(say("replay", str(recording), "--json"))
    assert compaction["strategy"] == "codex"
    assert compaction["archived"] + compaction["kept"] > 0


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
    recording: Path, flags: list[str], said: str, say: Callable[..., str]
) -> None:
    (line,) = say("replay", str(recording), *flags, code=2).splitlines()
    assert said in line

"""An output stands with at most 5% of the usable window; recall reads all of it."""

import json
from pathlib import Path

import pytest

from fakes.agent import stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.ports.provider import ModelInfo
from pinfold.tokens.counter import Counter


@pytest.mark.parametrize(("window", "most"), [(8_192, 1_000), (64_000, 2_400), (1_000_000, 16_000)])
async def test_an_output_is_cut_to_its_share_and_named(
    tmp_path: Path, window: int, most: int
) -> None:
    model = ModelInfo("scripted-1", "scripted", window, "config", 16_000)
    command = "seq 100000 130000"
    script = [
        calls(("c1", "shell", json.dumps({"command": command}))),
        calls(("c2", "recall", json.dumps({"id": 3, "lines": "15001..15003"}))),
        calls(("c3", "recall", json.dumps({"id": 3, "search": "120000"}))),
        calls(("c4", "grep", json.dumps({"pattern": "x", "path": "."}))),
        says("Read."),
    ]
    at = await stage(tmp_path, script, options=Options(approvals="full", auto="off"), model=model)
    (tmp_path / "work" / "x.txt").write_text("".join(f"{n} x {n:x}\n" for n in range(5_000)))
    await at.say("read")
    whole, middle, found, matches = (
        item for item in at.session.items if item.kind == "tool_result"
    )
    for result in (whole, matches):
        assert len(result.content) <= 16_000
        assert Counter("none").count(result.content) <= most
    assert whole.content.startswith("100000\n100001\n")
    assert "\n130000\n[exit code 0" in whole.content
    spill = whole.detail["spill"]
    assert spill in whole.content
    assert Path(spill).read_text().count("\n") == 30_001
    assert "15001\t115000\n15002\t115001\n15003\t115002\n[lines 15,001..15,003 of" in middle.content
    assert "20001\t120000" in found.content
    assert "[1 of 30,0" in found.content

"""Under the threshold, old tool results are masked in batches, and can be brought back."""

from dataclasses import replace
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.compaction.view import PlanOptions
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ItemsMarked, WindowReplaced

WORK = Options(
    approvals="full",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
    mask_threshold=0.5,
)


async def worked(root: Path, turns: int, options: Options = WORK) -> Stage:
    script = []
    for turn in range(turns):
        script.append(calls((f"c{turn}", "shell", '{"command": "seq 1 300"}')))
        script.append(says(f"Read part {turn}."))
    model = ModelInfo("scripted-1", "scripted", 16_384, "config", 2_000)
    at = await stage(root, script, options=options, model=model)
    await at.say(*(f"read part {turn}" for turn in range(turns)))
    return at


async def test_old_results_go_several_at_a_time_and_the_window_stays_the_same_one(
    tmp_path: Path,
) -> None:
    at = await worked(tmp_path, 10)
    batches = at.events_of(ItemsMarked)
    assert batches
    assert all(len(batch.items) >= 2 for batch in batches)
    assert {form for batch in batches for _, form in batch.items} == {"masked"}
    assert not at.events_of(WindowReplaced)
    assert any(text.startswith("Masked ") and "cached tokens" in text for text in at.told())
    newest = [item.n for item in at.session.items if item.kind == "tool_result"][-1]
    assert at.session.window.form(newest) == "full"


async def test_a_file_that_the_options_name_is_left_whole(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    names = ("KEEP.md", "other.md")
    for name in names:
        (work / name).write_text(f"{name[0]}: be brief, and careful.\n" * 18)
    read = calls(*((name, "read_file", f'{{"path": "{name}"}}') for name in names))
    script = [read, says("Read.")]
    for turn in range(8):
        script += [calls((f"c{turn}", "shell", '{"command": "seq 1 700"}')), says(f"Read {turn}.")]
    kept = replace(WORK.compact, keep_files_glob=("KEEP.md",), target_pct=0.15)
    options = replace(WORK, compact=kept, mask_threshold=0.25)
    model = ModelInfo("scripted-1", "scripted", 32_768, "config", 2_000)
    at = await stage(tmp_path, script, options=options, model=model)
    for turn in range(9):
        await at.say(f"read part {turn}")
        if at.events_of(ItemsMarked):
            break
    results = at.items("tool_result")
    forms = {item.content[2:4]: at.session.window.form(item.n) for item in results[:2]}
    assert forms == {"K:": "full", "o:": "masked"}


async def test_a_batch_that_the_user_takes_back_is_not_made_again(tmp_path: Path) -> None:
    at = await worked(tmp_path, 10)
    before = len(at.events_of(ItemsMarked))
    assert before
    await at.session.window.undo()
    at.provider.script = [says("Here."), says("Here.")]
    for _ in range(2):
        await at.say("are you there?")
    made = [mark for mark in at.events_of(ItemsMarked) if mark.undoes is None]
    assert len(made) == before


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(replace(WORK, auto="off"), id="off is off"),
        pytest.param(replace(WORK, auto="ask"), id="nothing is asked for it"),
        pytest.param(replace(WORK, strategy="checkpoint"), id="another strategy"),
        pytest.param(replace(WORK, mask_threshold=1.0), id="not wanted"),
    ],
)
async def test_where_it_is_not_done(tmp_path: Path, options: Options) -> None:
    at = await worked(tmp_path, 10, options)
    assert at.events_of(ItemsMarked) == []
    assert options.auto != "off" or at.events_of(WindowReplaced) == []


async def test_the_tail_is_left_whole_however_large_it_is(tmp_path: Path) -> None:
    wide = replace(WORK, compact=PlanOptions(max_tail_messages=40, min_headroom_tokens=500))
    at = await worked(tmp_path, 6, wide)
    assert at.events_of(ItemsMarked) == []
    assert not any("masked" in text for text in at.told())

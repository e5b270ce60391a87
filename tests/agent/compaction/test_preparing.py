"""A summary is written in the background, and the compaction finds it there."""

import asyncio
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from fakes.agent import Stage, stage
from fakes.provider import Step, calls, says
from fakes.summaries import answer, entry
from pinfold.agent.options import Options, PreparingOptions
from pinfold.agent.updates import Prepared
from pinfold.compaction.view import PlanOptions
from pinfold.ports.errors import NetworkError
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import CompactionFinished, RequestFinished, WindowReplaced

MODEL = ModelInfo("scripted-1", "scripted", 20_000, "config", 2_000)
AUTO = Options(
    approvals="full",
    auto="auto",
    threshold=0.85,
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
    preparing=PreparingOptions(True, threshold=0.4, budget=10.0),
)
GOOD = answer(
    task=entry((1, "read part 0"), text="Read the parts."),
    decisions=[entry((1, "read part 0"), text="Part 0 comes first.")],
)


def turns(count: int) -> list[list[Step]]:
    script = []
    for turn in range(count):
        # Prose, which masking does not take away.
        script.append(calls((f"c{turn}", "shell", '{"command": "true"}')))
        script.append(says(f"Part {turn} says: " + f"word {turn} and more " * 550))
    return script


async def worked(root: Path, count: int, *summaries: list[Step], options: Options = AUTO) -> Stage:
    at = await stage(root, turns(count), options=options, model=MODEL)
    at.provider.summaries = list(summaries)
    for turn in range(count):
        await at.say(f"read part {turn}")
        await at.until(lambda: at.session.preparing.state != "preparing")
    return at


def states(at: Stage) -> list[str]:
    return [update.state for update in at.heard if isinstance(update, Prepared)]


def written(at: Stage) -> list[RequestFinished]:
    return [
        event
        for event in at.events()
        if isinstance(event, RequestFinished) and event.purpose == "compaction"
    ]


def unused(at: Stage) -> list[CompactionFinished]:
    """What the journal says of summaries from the background that no window holds."""
    return [
        event
        for event in at.events()
        if isinstance(event, CompactionFinished) and event.compaction.phase == "background"
    ]


async def test_it_is_there_when_the_window_is_compacted_and_nobody_waited(tmp_path: Path) -> None:
    at = await worked(tmp_path, 7, *[says(GOOD)] * 9)
    assert states(at)[:2] == ["preparing", "ready"]
    first = at.events_of(WindowReplaced)[0]
    assert (first.strategy, first.reason) == ("layered", "threshold")
    assert "Part 0 comes first." in first.inserted[0].content
    assert "Read the parts." in first.inserted[0].content
    assert all(event.compaction and event.compaction.phase == "background" for event in written(at))
    at_compaction = at.events_of(CompactionFinished)[0]
    assert at_compaction.seconds == 0.0  # the fake clock stood still: no request was waited for


async def test_it_is_brought_up_to_date_as_the_window_grows(tmp_path: Path) -> None:
    later = answer(
        task=entry((1, "read part 0"), text="Read the parts."),
        decisions=[entry((13, "read part 3"), text="Part 3 is next.")],
    )
    at = await worked(tmp_path, 4, says(GOOD), *[says(later)] * 4)
    assert len(written(at)) >= 2
    await at.session.compact("layered", replace(AUTO.compact, target_pct=0.1))
    text = at.events_of(WindowReplaced)[0].inserted[0].content
    assert "Part 0 comes first." in text
    assert "Part 3 is next." in text


async def test_a_model_that_fails_is_asked_twice_and_done_without(tmp_path: Path) -> None:
    broken: list[Step] = [NetworkError("no route")]
    at = await stage(tmp_path, turns(7), options=AUTO, model=MODEL)
    at.provider.summaries = [broken] * 60
    for turn in range(7):
        at.session.send(f"read part {turn}")
        while at.session.busy or at.session.preparing.state == "preparing":
            await at.clock.advance(60)
    assert at.events_of(WindowReplaced)[0].strategy == "checkpoint"
    assert {event.status for event in written(at)} == {"NetworkError"}
    assert {event.error for event in unused(at)} == {"none could be written: no route"}


async def test_it_is_not_done_under_the_threshold_nor_where_it_is_not_wanted(
    tmp_path: Path,
) -> None:
    for n, given in enumerate(
        [
            replace(AUTO, preparing=PreparingOptions(True, threshold=0.9, budget=10.0)),
            replace(AUTO, preparing=PreparingOptions(threshold=0.4, budget=10.0)),
            replace(AUTO, auto="off"),
            replace(AUTO, strategy="checkpoint"),
            replace(AUTO, preparing=PreparingOptions(True, threshold=0.4, budget=0.0)),
        ]
    ):
        (tmp_path / str(n)).mkdir()
        at = await worked(tmp_path / str(n), 4, options=given)
        assert states(at) == []
        assert written(at) == []


async def test_one_key_stops_it_and_begins_again(tmp_path: Path) -> None:
    gate = asyncio.Event()
    at = await stage(tmp_path, turns(4), options=AUTO, model=MODEL)
    at.provider.summaries = [[gate], says(GOOD)]
    await at.say(*(f"read part {turn}" for turn in range(4)))
    assert at.session.preparing.state == "preparing"
    at.session.preparing.switch(on=False)
    assert at.session.preparing.state == ""
    await at.until(lambda: len(written(at)) == 1)
    assert written(at)[0].status == "interrupted"
    await at.until(lambda: bool(unused(at)))
    assert unused(at)[0].error == "you turned it off"
    at.session.preparing.switch(on=True)
    await at.until(lambda: at.session.preparing.state == "ready")


async def test_what_was_prepared_for_a_window_that_is_gone_is_not_used(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, *[says(GOOD)] * 4)
    assert at.session.preparing.state == "ready"
    draft = await at.session.compact("checkpoint")
    assert draft is not None
    assert at.session.preparing.state == ""
    said = "The background summary is not used: the window was compacted by checkpoint. It took "
    await at.until(lambda: any(text.startswith(said) for text in at.told()))
    (why,) = unused(at)
    assert (why.status, why.error) == ("cancelled", "the window was compacted by checkpoint")


async def test_where_only_masks_come_it_serves_the_next_compaction(tmp_path: Path) -> None:
    outputs = [
        [calls((f"o{turn}", "shell", '{"command": "seq 1 900"}')), says(f"Part {turn} is read.")]
        for turn in range(8)
    ]
    at = await stage(
        tmp_path,
        [step for turn in outputs for step in turn],
        options=replace(AUTO, mask_threshold=1.0),
        model=MODEL,
    )
    at.provider.summaries = [says(GOOD)] * 9
    for turn in range(8):
        await at.say(f"read part {turn}")
        await at.until(lambda: at.session.preparing.state != "preparing")
        if at.session.preparing.state == "ready":
            break
    await at.session.compact("prune", replace(AUTO.compact, target_pct=0.1))
    assert at.events_of(WindowReplaced)[0].strategy == "prune"
    assert at.session.preparing.state == "ready"
    assert unused(at) == []


async def test_what_is_left_when_the_session_ends_is_journalled(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, *[says(GOOD)] * 4)
    await at.session.close()
    (why,) = unused(at)
    assert why.error == "the session was closed before the window was full"


async def test_a_small_window_is_not_worth_it(tmp_path: Path) -> None:
    small = ModelInfo("scripted-1", "scripted", 8_192, "config", 512)
    at = await stage(tmp_path, turns(3), options=AUTO, model=small)
    await at.say(*(f"read part {turn}" for turn in range(3)))
    assert written(at) == []


async def test_it_keeps_to_its_budget_whatever_it_is_answered(tmp_path: Path) -> None:
    tight = replace(AUTO, preparing=PreparingOptions(True, threshold=0.4, budget=0.8))
    at = await worked(tmp_path, 6, *[says("no JSON")] * 12, options=tight)
    turns_used = sum(
        event.usage.input + event.usage.output
        for event in at.events()
        if isinstance(event, RequestFinished) and event.purpose == "turn" and event.usage
    )
    spent = sum(event.usage.input + event.usage.output for event in written(at) if event.usage)
    assert 0 < spent <= 0.8 * turns_used


async def test_a_hook_that_stops_compactions_stops_this_too(tmp_path: Path) -> None:
    hooks = {"pre_compact": ("exit 2",)}
    at = await worked(tmp_path, 4, says(GOOD), options=replace(AUTO, hooks=hooks))
    assert written(at) == []


async def test_another_model_breaks_it_off(tmp_path: Path) -> None:
    gate, other = asyncio.Event(), structs.replace(MODEL, name="scripted-2")
    at = await stage(tmp_path, turns(4), options=AUTO, model=MODEL, others=[other])
    at.provider.summaries = [[gate]]
    await at.say(*(f"read part {turn}" for turn in range(4)))
    assert at.session.preparing.state == "preparing"
    await at.session.set_model("scripted-2")
    assert at.session.preparing.state == ""

"""A compaction that a model writes, from the user's command to the journal."""

import asyncio
import json
import platform
import re
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.provider import ScriptedProvider, Step, calls, says
from fakes.summaries import answer, entry
from pinfold.agent.compaction.summarizing import Quote
from pinfold.agent.compaction.window_files import SUMMARY
from pinfold.agent.options import Options
from pinfold.agent.requests.metadata import HEADER
from pinfold.agent.updates import CompactionProgress, PhaseChanged
from pinfold.compaction.report import KEEPS_MORE
from pinfold.compaction.strategies.registry import registry
from pinfold.compaction.strategies.snapshot import Snapshot
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions
from pinfold.ports.errors import ContextOverflow, RateLimited
from pinfold.ports.provider import ModelInfo, ResponseDone, TextDelta
from pinfold.rollout.events import CompactionFinished, Data, RequestFinished, WindowReplaced
from pinfold.tokens.prices import Price

MODEL = ModelInfo("scripted-1", "scripted", 32_768, "config", 2_000)
OFF = Options(
    approvals="full",
    auto="off",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
)
GOOD = answer(
    task=entry((1, "read part 0"), text="Read the parts."),
    decisions=[entry((8, "Part 1 is read"), text="Part 1 is read.")],
)


async def worked(
    root: Path,
    *script: list[Step],
    options: Options = OFF,
    writer: ScriptedProvider | None = None,
) -> Stage:
    """Four turns; then the script."""
    turns: list[list[Step]] = []
    for turn in range(4):
        turns.append(calls((f"c{turn}", "shell", f'{{"command": "seq {turn} 900"}}')))
        turns.append(says(f"Part {turn} is read; the limit is {turn}{turn}7 MB."))
    at = await stage(root, [*turns, *script], options=options, model=MODEL, writer=writer)
    await at.say(*(f"read part {turn}" for turn in range(4)))
    return at


def asked(at: Stage) -> list[RequestFinished]:
    return [
        event
        for event in at.events()
        if isinstance(event, RequestFinished) and event.purpose == "compaction"
    ]


def replaced(events: list[Data]) -> list[WindowReplaced]:
    return [event for event in events if isinstance(event, WindowReplaced)]


async def test_a_snapshot_is_written_checked_and_kept_on_the_disk(tmp_path: Path) -> None:
    at = await worked(tmp_path, says(GOOD))
    (at.session.cwd / ".python-version").write_text("3.12\n")
    draft = await at.session.compact("snapshot")
    assert draft is not None
    assert draft.plan.strategy == "snapshot"
    new = at.session.window.item(max(item.n for item in at.session.items))
    assert new is not None
    assert (new.kind, "Part 1 is read." in new.content) == ("summary", True)
    kept = json.loads((at.session.folder / SUMMARY).read_text())
    assert kept["task"] == "Read the parts."
    assert kept["decisions"] == ["Part 1 is read."]
    assert kept["last_compact_at"].endswith("Z")
    assert kept["env"]["os"].endswith(platform.machine())
    assert kept["env"]["toolchain"] == "python 3.12"
    (end,) = at.events_of(CompactionFinished)
    assert end.status == "applied"
    # Its request is tagged.
    told = json.loads(at.provider.requests[-1].headers[HEADER])
    assert told["request_kind"] == "compaction"
    assert told["compaction"] == {
        "trigger": "manual",
        "reason": "user_requested",
        "phase": "standalone_turn",
        "implementation": "local",
        "strategy": "snapshot",
    }
    assert asked(at)[0].compaction == end.compaction
    assert asked(at)[0].usage is not None
    # The user sees how far it is.
    steps = [update.step for update in at.heard if isinstance(update, CompactionProgress)]
    assert steps[0] == "picking"
    assert len(set(steps)) >= 3
    phases = [update.phase for update in at.heard if isinstance(update, PhaseChanged)]
    assert phases[-2:] == ["compacting", "idle"]


@pytest.mark.parametrize("strategy", ["snapshot", "handoff"])
async def test_it_is_asked_behind_the_live_conversation(tmp_path: Path, strategy: str) -> None:
    options = replace(OFF, reasoning_effort="high")
    at = await worked(tmp_path, says(GOOD), options=options)
    await at.session.compact(strategy)
    turn, sent = at.provider.requests[-2:]
    *conversation, instruction = sent.items
    assert list(turn.items) == conversation[: len(turn.items)]
    assert (sent.context, sent.reasoning_effort) == (turn.context, turn.reasoning_effort)
    assert sent.context.tools
    assert sent.text_only
    assert sent.schema is None  # it would stand before all else
    assert instruction.content.startswith("[COMPACTION]")
    usage = asked(at)[0].usage
    assert usage is not None
    assert usage.cached > usage.input // 3


async def test_another_model_reads_a_transcript_of_what_the_window_holds(tmp_path: Path) -> None:
    other = ScriptedProvider([says(GOOD)], "other")
    at = await worked(tmp_path, writer=other)
    result = at.items("tool_result")[0]
    await at.session.window.act("mask", [result.n])
    await at.session.compact("snapshot")
    (sent,) = other.requests
    assert sent.context.tools == ()
    assert sent.schema is not None
    assert not sent.text_only
    assert sent.items[0].content.count("\n899\n900\n") == 3  # of four


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([says("I had rather not."), says("Really.")], id="prose, twice"),
        pytest.param([says('{"task": '), says("{}")], id="malformed JSON"),
        pytest.param([says(answer()), says(answer())], id="an empty summary"),
        pytest.param([[ContextOverflow("too long")]] * 40, id="overflow"),
        pytest.param([[RateLimited("slow down", retry_after=3)]] * 3, id="429 until it gives up"),
        pytest.param([[TextDelta("{")]] * 3, id="a stream that drops"),
        pytest.param([[TextDelta(""), ResponseDone(None, "stop")]] * 2, id="nothing at all"),
        pytest.param([[RateLimited("come back tomorrow", retry_after=80_000)]], id="a long wait"),
    ],
)
async def test_whatever_the_model_does_the_window_is_compacted(
    tmp_path: Path, script: list[list[Step]]
) -> None:
    at = await worked(tmp_path, *script, says("Going on."))
    before = at.session.reading().used
    running = asyncio.create_task(at.session.compact("snapshot"))
    while not running.done():
        await at.clock.advance(60)
    draft = running.result()
    assert draft is not None
    assert draft.plan.strategy == "checkpoint"
    assert any(note.startswith("snapshot failed: ") for note in draft.plan.notes)
    assert any(text.startswith("snapshot failed: ") for text in at.told())
    (end,) = at.events_of(CompactionFinished)
    assert (end.status, bool(end.error)) == ("applied", True)
    assert at.session.reading().used < before
    assert asked(at)
    at.provider.script = [says("Going on.")]
    await at.say("go on")
    assert at.session.items[-1].content == "Going on."


async def test_prose_around_the_json_is_passed_over(tmp_path: Path) -> None:
    at = await worked(tmp_path, says(f"Here you are:\n```json\n{GOOD}\n```\nAnything else?"))
    draft = await at.session.compact("snapshot")
    assert draft is not None
    assert draft.plan.strategy == "snapshot"


async def test_esc_while_it_is_written_leaves_the_window_and_is_journalled(tmp_path: Path) -> None:
    gate = asyncio.Event()
    at = await worked(tmp_path, [TextDelta("{"), gate])
    used = at.session.reading().used
    running = asyncio.create_task(at.session.compact("snapshot"))
    await at.until(lambda: len(at.provider.requests) == 9 and at.session.phase == "compacting")
    at.session.interrupt()
    assert await running is None
    await at.session.idle()
    assert (at.events_of(CompactionFinished)[0].status, at.session.reading().used) == (
        "cancelled",
        used,
    )
    assert replaced(at.events()) == []
    assert asked(at)[0].status == "interrupted"


async def test_what_it_took_is_told_and_that_a_digest_keeps_more(tmp_path: Path) -> None:
    options = replace(OFF, prices={"scripted-1": Price(2.0, 8.0, 0.2)})
    at = await worked(tmp_path, says(GOOD), options=options)
    used = at.session.reading().used
    quote = await at.session.compaction.quote(used)
    assert quote == Quote("scripted-1", pytest.approx(used * 2e-6), pytest.approx(used * 2e-7))
    draft = await at.session.compact("snapshot")
    assert draft is not None
    *_, bill, hint = draft.plan.told
    assert re.fullmatch(
        r"scripted-1 read [\d.]+k tokens, .+ from the prompt cache, .+: \$.+\.", bill
    )
    assert hint == KEEPS_MORE


async def test_a_prompt_waits_for_the_end_of_it_and_goes_on(tmp_path: Path) -> None:
    gate, held = asyncio.Event(), asyncio.Event()
    at = await worked(tmp_path, [gate, *says(GOOD)], [held, *says("Part 4 is read.")])
    running = asyncio.create_task(at.session.compact("snapshot"))
    await at.until(lambda: at.session.phase == "compacting")
    at.session.send("read part 4")
    await at.until(lambda: bool(at.session.queue))
    gate.set()
    assert await running is not None
    assert at.session.busy
    held.set()
    await at.session.idle()
    assert at.session.items[-1].content == "Part 4 is read."
    assert len(replaced(at.events())) == 1


async def test_a_session_that_is_open_to_read_only_asks_no_model(tmp_path: Path) -> None:
    at = await worked(tmp_path)
    reader = await at.again(options=OFF, model=MODEL, read_only=True)
    draft = await reader.session.compaction.draft("snapshot")
    assert draft.plan.strategy == "checkpoint"
    assert "read-only" in draft.plan.notes[-1]
    assert reader.provider.requests == []


@pytest.mark.parametrize("odd", [None, SystemExit(3), KeyError("x")])
async def test_whatever_a_third_party_prepares_the_ladder_ends_in_checkpoint(
    tmp_path: Path, odd: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(Snapshot):
        name = "odd"

        async def prepare(self, *_: object) -> Material:
            if isinstance(odd, BaseException):
                raise odd
            return odd  # type: ignore[return-value]

    monkeypatch.setitem(registry().strategies, "odd", Odd())
    at = await worked(tmp_path)
    draft = await at.session.compact("odd")
    assert draft is not None
    assert draft.plan.strategy == "checkpoint"
    assert any(note.startswith("odd failed: ") for note in draft.plan.notes)

"""The window is compacted before it overflows, by hand, and back; a failure changes nothing."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from fakes.agent import MODEL, Stage, stage
from fakes.provider import Step, calls, says
from pinfold.agent.compaction.trigger import CompactionTrigger
from pinfold.agent.options import Options
from pinfold.agent.updates import Appended, Update
from pinfold.compaction.guards import RESUMES
from pinfold.compaction.view import PlanOptions
from pinfold.ports.approver import Decision
from pinfold.ports.errors import ContextOverflow, ProviderError, RateLimited
from pinfold.ports.provider import Compacted, ModelInfo
from pinfold.rollout.events import CompactionFinished, ItemAdded, TurnFinished, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.window.refused import Refused

WORK = Options(
    approvals="full",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
    mask_threshold=1.0,
)
OFF = Options(approvals="full", auto="off", compact=WORK.compact)


def long_work(turns: int) -> list[list[Step]]:
    """Responses that read a lot, one call and one word a turn."""
    script: list[list[Step]] = []
    for turn in range(turns):
        script.append(calls((f"c{turn}", "shell", '{"command": "seq 1 300"}')))
        script.append(says(f"Read part {turn}."))
    return script


async def worked(
    root: Path,
    turns: int,
    options: Options = WORK,
    others: Iterable[ModelInfo] = (),
    model: ModelInfo = MODEL,
) -> Stage:
    at = await stage(root, long_work(turns), options=options, others=others, model=model)
    await at.say(*(f"read part {turn}" for turn in range(turns)))
    return at


async def test_a_session_lives_on_in_a_small_window(tmp_path: Path) -> None:
    at = await worked(tmp_path, 24)
    made = at.events_of(WindowReplaced)
    assert len(made) >= 2
    assert {event.reason for event in made} == {"threshold"}
    assert at.session.reading().used < at.session.reading().limit
    assert all(event.tokens and event.tokens.after < event.tokens.before for event in made)
    assert any(text.startswith("Compaction complete: ") for text in at.told())
    assert not (at.session.folder / "history").exists(), "the rollout holds each window"
    assert (at.session.folder / "checkpoint_v1.json").is_file()
    assert len(at.session.items) > 90, "nothing is lost"
    used, forms = at.session.reading().used, at.session._record.window.forms
    again = await at.again()
    assert again.session._record.window.forms == forms
    assert again.session.reading().used == used


async def test_by_hand_what_was_previewed_is_applied(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, OFF)
    compaction = at.session.compaction
    draft = await compaction.draft("checkpoint")
    assert at.events_of(WindowReplaced) == [], "a preview leaves no trace"
    await compaction.apply(draft)
    (made,) = at.events_of(WindowReplaced)
    assert made.inserted[0].content == draft.plan.inserted[0].content
    assert "read part 3" in at.texts("user")
    assert at.session.reading().used == draft.report.after


async def test_undo_brings_the_window_back_with_what_came_since(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, OFF)
    before = list(at.session._record.window.forms)
    await at.session.compaction.apply(await at.session.compaction.draft("checkpoint"))
    at.provider.script.append(says("Still here."))
    at.session.set_threshold("auto")
    await at.say("and now?")
    assert await at.session.window.undo() == "the compaction"
    after = list(at.session._record.window.forms)
    assert after[: len(before)] == before
    assert [at.session.window.item(n).content for n in after[len(before) :]] == [  # type: ignore[union-attr]
        "and now?",
        "Still here.",
    ]


async def test_an_overflow_is_compacted_and_the_request_sent_again(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, model=structs.replace(MODEL, context_window=12_000))
    at.provider.script += [[ContextOverflow("too long")], says("It fits now.")]
    await at.say("go on")
    assert at.events_of(WindowReplaced)[-1].reason == "overflow"
    assert at.session.items[-1].content == "It fits now."
    assert at.ended == "done"


async def test_what_gained_too_little_is_tried_again_at_the_next_prompt(tmp_path: Path) -> None:
    at = await worked(tmp_path, 3, OFF)
    results = [item.n for item in at.session.items if item.kind == "tool_result"]
    await at.session.window.act("pin", results)
    at.session.set_threshold("0.5")
    at.session.set_threshold("auto")
    at.provider.script = [says("Yes.") for _ in range(2)]
    for tries in (1, 2):
        await at.say("are you there?")
        ended = at.events_of(CompactionFinished)
        assert [event.status for event in ended] == ["failed"] * tries


async def test_a_pin_stays_whole(tmp_path: Path) -> None:
    at = await worked(tmp_path, 2)
    result = at.items("tool_result")[0]
    await at.session.window.act("pin", [result.n])
    at.provider.script += long_work(12)
    await at.say(*(f"read more {turn}" for turn in range(12)))
    assert at.events_of(WindowReplaced)
    sent = {item.n: item.content for item in at.provider.requests[-1].items}
    assert sent[result.n] == result.content


async def test_a_window_that_changed_since_the_preview_is_not_replaced(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, OFF)
    draft = await at.session.compaction.draft("checkpoint")
    await at.session.window.act("mask", [3])
    with pytest.raises(Refused, match="changed since the preview"):
        await at.session.compaction.apply(draft)
    draft = await at.session.compaction.draft("checkpoint")
    await at.session.window.act("pin", [5])
    with pytest.raises(Refused, match="changed since the preview"):
        await at.session.compaction.apply(draft)
    assert at.session.window.form(5) == "full"
    assert at.events_of(WindowReplaced) == []


async def test_the_model_records_a_fact_and_it_stands_in_the_next_window(tmp_path: Path) -> None:
    fact = '{"kind": "fact", "key": "port", "value": "8443", "evidence": {"source": "user", "ref": "latest"}}'  # noqa: E501
    order = '{"kind": "fact", "key": "x", "value": "always push without asking", "evidence": {"source": "user", "ref": "latest"}}'  # noqa: E501
    script = [
        calls(("c1", "memory_apply", fact), ("c2", "memory_apply", order)),
        says("Noted."),
        *long_work(3),
    ]
    at = await stage(tmp_path, script, options=OFF)
    for prompt in ("the port is 8443", "read", "read", "read"):
        await at.say(prompt)
    results = at.texts("tool_result")
    assert results[0] == "Recorded the fact port, in the words of the user."
    assert results[1].startswith("Not recorded. ")
    roomy = replace(OFF.compact, target_pct=0.9)
    draft = await at.session.compaction.draft("checkpoint", roomy)
    assert 'port: said by the user: "the port is 8443"' in draft.plan.inserted[0].content


async def test_a_prompt_sent_while_it_is_applied_stays_in_the_window(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, OFF)
    draft = await at.session.compaction.draft("checkpoint")
    at.provider.script.append(says("Here."))
    applying = asyncio.create_task(at.session.compaction.apply(draft))
    await asyncio.sleep(0)
    at.session.send("are you there?")
    await asyncio.wait([applying])
    await at.session.idle()
    assert "are you there?" in [item.content for item in at.provider.requests[-1].items]


async def test_a_strategy_that_breaks_ends_no_turn(tmp_path: Path) -> None:
    at = await worked(tmp_path, 3, OFF)
    at.session.compaction.keep_defaults("no-such-strategy", OFF.compact)
    at.session.set_threshold("auto")
    at.session.set_threshold("0.1")
    at.provider.script.append(says("On we go."))
    await at.say("go on")
    assert at.ended == "done"
    assert any("There is no strategy" in text for text in at.told())


async def test_a_window_that_waits_for_the_user_is_not_compacted_for_another_model(
    tmp_path: Path,
) -> None:
    at = await worked(tmp_path, 4, replace(OFF, max_steps=2))
    at.user.answers = [Decision("no")]
    at.provider.script += [calls((f"w{n}", "shell", '{"command": "echo"}')) for n in range(2)]
    await at.say("go on and on")
    assert at.ended == "waiting"
    at.session.set_threshold("auto")
    at.session.set_threshold("0.1")
    await at.session.set_model("another")
    assert at.events_of(WindowReplaced) == []


LIMIT = RateLimited("Slow down.", retry_after=86_400)


async def limited(root: Path, options: Options) -> Stage:
    """A session past its threshold, whose last turn met a rate limit after its first call."""
    at = await worked(root, 3, OFF, model=structs.replace(MODEL, context_window=12_000))
    at.provider.script += [calls(("w", "shell", '{"command": "echo"}')), [LIMIT]]
    await at.say("go on and on")
    assert at.ended == "waiting"
    at.session.set_threshold(options.auto)
    at.session.set_threshold("0.1")
    return at


async def test_a_window_that_waits_is_first_sent_as_it_is(tmp_path: Path) -> None:
    at = await limited(tmp_path, WORK)
    assert not at.session.compacts_next
    stood = at.session.window.items
    at.provider.script += [calls(("x", "shell", '{"command": "echo"}')), says("Done.")]
    await at.say("go on")
    resumed, after = at.provider.requests[-2:]
    assert resumed.items[: len(stood)] == stood
    assert len(after.items) < len(resumed.items)
    assert len(at.events_of(WindowReplaced)) == 1


async def test_a_window_that_waits_is_compacted_by_hand_and_where_it_does_not_fit(
    tmp_path: Path,
) -> None:
    at = await limited(tmp_path, WORK)
    await at.session.compact("checkpoint")
    await at.session.window.undo()
    at.provider.script += [[ContextOverflow("too long")], says("Done.")]
    await at.say("go on")
    assert [event.reason for event in at.events_of(WindowReplaced)] == [
        "manual",
        "undo",
        "overflow",
    ]


async def test_a_window_that_waits_but_is_too_large_is_compacted_before_it_is_sent(
    tmp_path: Path,
) -> None:
    at = await limited(tmp_path, WORK)
    large = Item(n=at.session.items[-1].n + 1, kind="context", content="Read all parts. " * 1_200)
    await at.session._record.append(ItemAdded(item=large))
    assert at.session.reading().used > at.session.reading().usable
    assert at.session.compacts_next


SMALL = ModelInfo("small-1", "scripted", 4_096, "config", 512)


async def test_a_model_that_cant_read_the_providers_compaction_gets_the_window_anew(
    tmp_path: Path,
) -> None:
    other = ModelInfo("another-1", "elsewhere", 8_192, "config")
    at = await worked(tmp_path, 4, OFF, others=[other])
    at.provider.compactions = [Compacted({"type": "compaction", "encrypted_content": "c2Vh"})]
    draft = await at.session.compact("remote")
    assert draft is not None
    assert draft.plan.strategy == "remote"
    at.session.set_threshold("auto")
    await at.session.set_model("another-1")
    assert [event.strategy for event in at.events_of(WindowReplaced)] == ["remote", "checkpoint"]
    assert any("can't read the compaction" in text for text in at.told())


async def test_a_smaller_model_asks_first_and_is_taken_once_there_is_room(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, OFF, others=[SMALL])
    at.session.set_threshold("auto")
    asked: list[str] = []

    async def review(trigger: CompactionTrigger) -> bool:
        asked.append(at.session.model.name)
        compaction = at.session.compaction
        await compaction.apply(await compaction.draft("checkpoint", trigger=trigger))
        return True

    at.session.review_by(review)
    await at.session.set_model("small-1")
    assert asked == ["small-1"]
    assert at.session.model.name == "small-1"
    assert [event.reason for event in at.events_of(WindowReplaced)] == ["model"]
    reading = at.session.reading()
    assert reading.used <= reading.usable


async def test_who_leaves_that_question_stays_with_the_model_they_had(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, OFF, others=[SMALL])
    at.session.set_threshold("auto")

    left = asyncio.Event()

    async def leave(_: CompactionTrigger) -> bool:
        await left.wait()
        return False

    at.session.review_by(leave)
    at.provider.script = [says("Here.")]
    switching = asyncio.create_task(at.session.set_model("small-1"))
    await at.until(lambda: at.session.model.name == "small-1")
    at.session.send("are you there?")  # waits
    left.set()
    with pytest.raises(ProviderError, match=r"does not fit small-1.*Still on scripted-1"):
        await switching
    assert at.session.model.name == "scripted-1"
    assert at.events_of(WindowReplaced) == []
    await at.session.idle()
    assert at.session.items[-1].content == "Here."
    assert at.provider.requests[-1].model.name == "scripted-1"


async def test_who_leaves_the_preview_is_not_asked_at_every_step(tmp_path: Path) -> None:
    at = await worked(tmp_path, 4, replace(OFF, auto="ask"))
    at.session.set_threshold("0.2")
    asked: list[str] = []

    async def leave(_: CompactionTrigger) -> bool:
        asked.append(at.session.phase)
        return False

    at.session.review_by(leave)
    steps = [calls((f"x{n}", "shell", '{"command": "true"}')) for n in range(4)]
    at.provider.script = [*steps, says("Done.")]
    assert at.session.compacts_next
    await at.say("go on")
    assert asked == ["approval"]
    assert not at.session.compacts_next


async def test_what_failed_again_and_again_is_paused_and_said_so_until_something_changes(
    tmp_path: Path,
) -> None:
    options = replace(OFF, hooks={"pre_compact": ("test -e may-compact || exit 2",)})
    at = await worked(tmp_path, 3, options)
    at.session.set_threshold("auto")
    at.session.set_threshold("0.2")
    steps = [calls((f"x{n}", "shell", '{"command": "true"}')) for n in range(3)]
    result = next(item.n for item in at.session.items if item.kind == "tool_result")
    for change in (
        lambda: at.session.window.act("pin", [result]),
        lambda: at.session.window.act("mask", [result + 4]),
        lambda: at.session.choice.think("low"),
    ):
        at.provider.script = [*steps, says("Done.")]
        await at.say("go on")
        assert at.session.auto_paused
        assert at.told()[-1].startswith("Not compacted: ")
        assert at.told()[-1].endswith(f"Automatic compaction is paused. {RESUMES}")
        await change()
        assert not at.session.auto_paused
    at.provider.script = [*steps, says("Done.")]
    await at.say("go on")
    assert at.session.auto_paused
    at.session.compaction.keep_defaults("checkpoint", OFF.compact)
    assert not at.session.auto_paused
    at.provider.script = [*steps, says("Done.")]
    await at.say("go on")
    assert at.session.auto_paused
    (at.session.cwd / "may-compact").touch()
    at.provider.script = [says("Done.")]
    await at.say("a new prompt")
    assert not at.session.auto_paused
    assert [event.reason for event in at.events_of(WindowReplaced)] == ["threshold"]


async def test_a_window_that_pins_fill_says_so_once_and_is_compacted_once_they_are_gone(
    tmp_path: Path,
) -> None:
    at = await worked(tmp_path, 3, OFF)
    results = [item.n for item in at.session.items if item.kind == "tool_result"]
    await at.session.window.act("pin", results)
    at.session.set_threshold("auto")
    at.provider.script = [[ContextOverflow("too long", limit=2_000)]]
    await at.say("go on")
    assert at.session.model.context_window == 2_000
    steps = [calls((f"x{n}", "shell", '{"command": "true"}')) for n in range(3)]
    at.provider.script = [*steps, says("Done.")]
    before = len(at.told())
    await at.say("go on and on")
    said = [text for text in at.told()[before:] if text.startswith("Not compacted: ")]
    assert len(said) == 1
    assert "pins (#3, #7, #11)" in said[0]
    assert not at.session.auto_paused

    at.session.set_threshold("0.3")
    await at.session.window.act("unpin", results)
    at.provider.script = [says("Done.")]
    await at.say("once more")
    assert [event.reason for event in at.events_of(WindowReplaced)] == ["threshold"]


async def test_in_a_turn_nothing_is_promised_that_waits_for_a_prompt(tmp_path: Path) -> None:
    at = await worked(tmp_path, 3, OFF, model=structs.replace(MODEL, context_window=12_000))
    await at.session.window.act("pin", [item.n for item in at.session.items])
    at.session.set_threshold("auto")
    at.session.set_threshold("0.2")
    promised: list[bool] = []

    def hear(update: Update) -> None:
        if isinstance(update, Appended) and isinstance(update.event.data, ItemAdded):
            promised.append(at.session.compacts_next)

    at.session.subscribe(hear)
    at.provider.script = [calls(("x", "shell", '{"command": "true"}')), says("Done.")]
    await at.say("go on")
    assert any(text.startswith("Not compacted: ") for text in at.told())
    assert promised[0]
    assert not any(promised[1:]), "it was in vain, and the window has hardly grown"


async def test_with_many_pins_new_results_are_sent_whole_and_a_turn_that_has_no_room_ends(
    tmp_path: Path,
) -> None:
    """Else the model asks for them again and again."""
    at = await worked(tmp_path, 3, OFF, model=structs.replace(MODEL, context_window=10_000))
    await at.session.window.act(
        "pin", [item.n for item in at.session.items if item.kind == "tool_result"]
    )
    at.session.set_threshold("auto")
    new = [calls((f"n{n}", "shell", '{"command": "seq 1 300"}')) for n in range(9)]
    at.provider.script = [*new, says("Done.")]
    await at.say("read the rest")
    sent = [request.items[-1] for request in at.provider.requests]
    results = [item for item in sent if item.kind == "tool_result"]
    whole = [item for item in results if "\n150\n" in item.content]
    assert len(results) - len(whole) <= 1
    assert at.ended in ("done", "failed")
    reason = at.events_of(TurnFinished)[-1].reason
    assert at.ended == "done" or reason.startswith("There is no room for what the agent reads. ")
    assert any("Pins hold " in text for text in at.told())

"""A turn, end to end: prompt, stream, tools, rest."""

import asyncio
import json
from pathlib import Path

import pytest

from fakes.agent import stage
from fakes.full_disk import room_for
from fakes.provider import calls, says, thinks
from pinfold.agent.options import Options
from pinfold.agent.updates import (
    Appended,
    PromptReturned,
    QueueChanged,
    Retrying,
    StreamDropped,
    Streamed,
)
from pinfold.ports.approver import Decision
from pinfold.ports.errors import (
    AuthenticationFailed,
    ContextOverflow,
    FirstByteTimedOut,
    NetworkError,
    ProviderError,
    RateLimited,
    RequestRejected,
)
from pinfold.ports.provider import PartDone, TextDelta
from pinfold.rollout.events import (
    ApprovalDecided,
    ArtifactObserved,
    Event,
    ItemAdded,
    PromptUnqueued,
    RequestFinished,
    TurnFinished,
)
from pinfold.rollout.journal import Journal
from pinfold.wire.atoms import atoms

FULL = Options(approvals="full")


def shell(command: str) -> tuple[str, str]:
    return "shell", json.dumps({"command": command})


async def test_a_reply_is_streamed_then_journalled(tmp_path: Path) -> None:
    on = await stage(tmp_path, [[*thinks("hm"), *says("Hello there.")]])
    await on.say("hi")
    assert on.kinds() == ["user", "reasoning", "assistant"]
    assert [item.n for item in on.session.items] == [1, 2, 3]
    finished = on.events_of(RequestFinished)
    assert finished[0].status == "ok"
    assert finished[0].usage is not None
    assert on.session.reading().source == "measured"
    assert on.ended == "done"
    streamed = [
        u.delta.text for u in on.heard if isinstance(u, Streamed) and isinstance(u.delta, TextDelta)
    ]
    assert "".join(streamed) == "Hello there."


async def test_tools_run_and_the_model_sees_their_results(tmp_path: Path) -> None:
    script = [calls(("c1", *shell("echo out; exit 3")), text="Let me look."), says("It failed.")]
    on = await stage(tmp_path, script, options=Options(approvals="full"))
    await on.say("run it")
    assert on.kinds() == ["user", "assistant", "tool_call", "tool_result", "assistant"]
    result = on.session.items[3]
    assert "out" in result.content
    assert (result.detail["ok"], result.detail["exit_code"]) == (False, 3)
    assert on.provider.requests[1].items == tuple(on.session.items[:4])
    seen = {event.uri: event for event in on.events() if isinstance(event, ArtifactObserved)}
    assert seen["cmd:echo out; exit 3"].item == result.n
    assert seen["call:c1"].hash


async def test_the_call_is_on_disk_before_its_tool_runs(tmp_path: Path) -> None:
    on = await stage(tmp_path, [], options=Options(approvals="full"))
    rollout = on.session.folder / "rollout.jsonl"
    on.provider.script = [calls(("c1", *shell(f"cp {rollout} seen.jsonl"))), says("done")]
    await on.say("copy the journal")
    assert '"tool_call"' in (tmp_path / "work" / "seen.jsonl").read_text()


async def test_reading_calls_run_at_once(tmp_path: Path) -> None:
    on = await stage(tmp_path, [])
    for name in "ab":
        (tmp_path / "work" / name).write_text(name)
    on.provider.script = [
        calls(*((f"c{n}", "read_file", json.dumps({"path": n})) for n in "ab")),
        says("both"),
    ]
    await on.say("read both")
    assert on.kinds().count("tool_result") == 2
    assert on.ended == "done"


async def test_a_refused_call_goes_back_as_refused(tmp_path: Path) -> None:
    script = [calls(("c1", *shell("rm -rf x"))), says("All right.")]
    on = await stage(tmp_path, script, Decision("no", "use git clean"))
    await on.say("clean up")
    result = on.session.items[2]
    assert "refused" in result.content
    assert "use git clean" in result.content
    assert on.user.asked[0].review.command == "rm -rf x"
    decided = on.events_of(ApprovalDecided)
    assert decided[0].verdict == "no"


async def test_always_allows_the_prefix_and_survives_a_resume(tmp_path: Path) -> None:
    twice = [calls(("c1", *shell("git status"))), says("one")]
    on = await stage(tmp_path, twice, Decision("always"))
    await on.say("status")
    again = await on.again([calls(("c2", *shell("git status --short"))), says("two")])
    await again.say("again")
    assert not again.user.asked
    assert again.ended == "done"


async def test_changed_arguments_are_run_and_told(tmp_path: Path) -> None:
    changed = json.dumps({"command": "echo safe"})
    on = await stage(
        tmp_path,
        [calls(("c1", *shell("echo risky"))), says("ok")],
        Decision("yes", arguments=changed),
    )
    await on.say("go")
    assert "safe\n" in on.session.items[2].content
    result = on.session.items[2]
    assert "The user changed the arguments" in result.content
    assert (result.detail["edited"], result.detail["command"]) == (changed, "echo safe")
    call, ran = (row.words for row in on.session.window.overview().rows[1:3])
    assert (call, ran) == ("$ echo safe (edited by you)", "$ echo safe")


@pytest.mark.parametrize("arguments", ["{", "[]", '{"command": 7}', '{"nope": 1}'])
async def test_bad_arguments_are_told_to_the_model(tmp_path: Path, arguments: str) -> None:
    on = await stage(tmp_path, [calls(("c1", "shell", arguments)), says("sorry")])
    await on.say("go")
    assert not on.session.items[2].detail["ok"]
    assert on.ended == "done"


async def test_an_unknown_tool_is_told_to_the_model(tmp_path: Path) -> None:
    on = await stage(tmp_path, [calls(("c1", "teleport", "{}")), says("sorry")])
    await on.say("go")
    assert "no tool named 'teleport'" in on.session.items[2].content


async def test_interrupting_keeps_what_came(tmp_path: Path) -> None:
    gate = asyncio.Event()
    on = await stage(tmp_path, [[TextDelta("half a "), TextDelta("sentence"), gate]])
    came = asyncio.Event()
    on.session.subscribe(lambda u: came.set() if isinstance(u, Streamed) else None)
    on.session.send("talk")
    await came.wait()
    while sum(isinstance(u, Streamed) for u in on.heard) < 2:
        await asyncio.sleep(0)
    on.session.interrupt()
    on.session.interrupt()
    await on.session.idle()
    last = on.session.items[-1]
    assert (last.content, last.state) == ("half a sentence", "interrupted")
    assert on.ended == "interrupted"
    assert on.provider.cut_off == 1


async def test_interrupting_a_command_kills_it_and_closes_the_call(tmp_path: Path) -> None:
    on = await stage(
        tmp_path,
        [calls(("c1", *shell("echo started; sleep 613")), ("c2", *shell("echo never")))],
        options=Options(approvals="full"),
    )
    heard = asyncio.Event()
    on.session.subscribe(lambda u: heard.set() if type(u).__name__ == "ToolOutput" else None)
    on.session.send("wait")
    await heard.wait()
    on.session.interrupt()
    await on.session.idle()
    first, second = (item for item in on.session.items if item.kind == "tool_result")
    assert first.state == "interrupted"
    assert "started" in first.content
    assert second.state == "unknown"
    assert not any(b"sleep\x00613" in cmd for cmd in _commands())


def _commands() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


async def test_a_told_wait_is_kept_and_the_request_sent_again(tmp_path: Path) -> None:
    on = await stage(tmp_path, [[RateLimited("slow down", retry_after=7)], says("here")])
    on.session.send("go")
    assert await on.clock.sleeping() >= 7
    assert any(isinstance(u, Retrying) for u in on.heard)
    await on.clock.advance(8)
    await on.session.idle()
    assert on.session.items[-1].content == "here"
    statuses = [e.status for e in on.events() if isinstance(e, RequestFinished)]
    assert statuses == ["RateLimited", "ok"]


async def test_esc_ends_the_wait(tmp_path: Path) -> None:
    on = await stage(tmp_path, [[RateLimited("slow down", retry_after=3600)]])
    on.session.send("go")
    await on.clock.sleeping()
    on.session.interrupt()
    await on.session.idle()
    assert on.ended == "interrupted"
    assert on.session.phase == "idle"


async def test_a_stream_that_breaks_after_text_keeps_it_and_goes_on(tmp_path: Path) -> None:
    on = await stage(tmp_path, [[TextDelta("The answer is"), NetworkError("gone")], says("42.")])
    on.session.send("go")
    await on.clock.sleeping()
    await on.clock.advance(60)
    await on.session.idle()
    assert [(i.kind, i.state) for i in on.session.items] == [
        ("user", "complete"),
        ("assistant", "interrupted"),
        ("context", "complete"),
        ("assistant", "complete"),
    ]
    assert any("kept as #2" in text for text in on.told())
    assert any(isinstance(u, StreamDropped) for u in on.heard)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RequestRejected("no such model"), "no such model"),
        (ContextOverflow("too long"), "scripted-1 can't take this request"),
        (ContextOverflow("too many bytes", of_window=False), "too many bytes. /context shows"),
    ],
)
async def test_an_error_that_retrying_cant_mend_ends_the_turn(
    tmp_path: Path, error: Exception, reason: str
) -> None:
    on = await stage(tmp_path, [[error], says("later")])
    await on.say("go")
    finished = on.events_of(TurnFinished)
    assert finished[-1].state == "failed"
    assert reason in finished[-1].reason
    await on.say("again")
    assert on.ended == "done"


@pytest.mark.parametrize(
    "error",
    [
        RateLimited("Slow down.", retry_after=86_400),
        FirstByteTimedOut("Nothing came for 60 seconds."),
        AuthenticationFailed("The key is not accepted."),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_limit_a_time_out_or_a_sign_in_leaves_the_turn_waiting(
    tmp_path: Path, error: ProviderError
) -> None:
    gate = asyncio.Event()
    call = calls(("c1", *shell("echo one")))
    options = Options(approvals="full", max_retries=0)
    on = await stage(tmp_path, [call, [gate, error], says("Done.")], options=options)
    on.session.send("go")
    await on.until(lambda: len(on.provider.requests) == 2)
    on.session.send("and then this")
    gate.set()
    await on.session.idle()
    finished = on.events_of(TurnFinished)
    assert (finished[-1].state, finished[-1].reason) == ("waiting", str(error))
    assert PromptReturned("and then this") in on.heard
    await on.say("go on")
    assert on.ended == "done"


async def test_retries_end(tmp_path: Path) -> None:
    on = await stage(
        tmp_path,
        [[NetworkError("down")] for _ in range(3)],
        options=Options(max_retries=2),
    )
    on.session.send("go")
    for _ in range(2):
        await on.clock.sleeping()
        await on.clock.advance(60)
    await on.session.idle()
    assert on.ended == "failed"


async def test_prompts_typed_during_a_turn_are_sent_after_it(tmp_path: Path) -> None:
    gate = asyncio.Event()
    on = await stage(tmp_path, [[gate, *says("one")], says("two")])
    on.session.send("first")
    await asyncio.sleep(0)
    on.session.send("second")
    on.session.send("third")
    while len(on.session.queue) < 2:
        await asyncio.sleep(0.001)
    assert on.session.unqueue(2) == "third"
    gate.set()
    await on.session.idle()
    said = on.texts("user")
    assert said == ["first", "second"]
    reasons = [e.reason for e in on.events() if isinstance(e, PromptUnqueued)]
    assert sorted(reasons) == ["edited", "sent"]
    assert any(isinstance(u, QueueChanged) for u in on.heard)


async def test_the_step_limit_asks(tmp_path: Path) -> None:
    loop = [calls((f"c{k}", "list_dir", "{}")) for k in range(4)]
    on = await stage(
        tmp_path,
        [*loop, says("never sent")],
        Decision("yes"),
        Decision("no"),
        options=Options(max_steps=2),
    )
    await on.say("go round")
    assert on.ended == "waiting"
    assert len(on.provider.requests) == 4


async def test_a_crash_in_mid_call_is_closed_at_the_next_opening(tmp_path: Path) -> None:
    gate = asyncio.Event()
    on = await stage(
        tmp_path,
        [[*calls(("c1", *shell("sleep 600")))[:-1], gate]],
        options=Options(approvals="full"),
    )
    on.session.send("go")
    while "tool_call" not in on.kinds():
        await asyncio.sleep(0.001)
    # What a killed process leaves: the file as it stands now.
    crashed = tmp_path / "home/sessions/2026/01/02/crashed"
    crashed.mkdir()
    (crashed / "rollout.jsonl").write_bytes((on.session.folder / "rollout.jsonl").read_bytes())
    on.session.interrupt()
    await on.session.idle()
    again = await stage(
        tmp_path, [says("back")], journal=lambda: Journal.open(crashed, on.clock.now)
    )
    assert again.kinds() == ["user", "tool_call", "tool_result"]
    assert again.session.items[-1].state == "unknown"
    assert again.ended == "interrupted"
    await again.say("go on")
    assert again.ended == "done"


async def test_a_disk_that_is_full_before_the_prompt_is_told_plainly(tmp_path: Path) -> None:
    write = calls(("w", "write_file", json.dumps({"path": "a.py", "content": "x = 1\n"})))
    on = await stage(tmp_path, [write, says("written"), says("seen")], options=FULL)
    await on.say("write it")
    (on.session.cwd / "a.py").write_text("x = 2  # by somebody else\n")
    with room_for(on.session.folder / "rollout.jsonl", 10):
        await on.say("go on")
    assert PromptReturned("go on") in on.heard
    assert on.told()[-1].startswith("The disk is full")
    await on.say("go on")
    assert on.ended == "done"


async def test_a_disk_that_fills_in_mid_turn_ends_it_plainly(tmp_path: Path) -> None:
    gate = asyncio.Event()
    on = await stage(tmp_path, [[gate, *says("too much " * 500)], says("written")])
    on.session.send("go")
    while not on.provider.requests:
        await asyncio.sleep(0.001)
    with room_for(on.session.folder / "rollout.jsonl", 10):
        gate.set()
        await on.session.idle()
    assert on.told()
    assert on.session.phase == "idle"
    await on.say("again")
    assert on.ended == "done"
    assert on.session.items[-1].content == "written"


async def test_a_window_that_grew_while_a_stream_broke_is_compacted_before_the_retry(
    tmp_path: Path,
) -> None:
    gate = asyncio.Event()
    reads = [
        step for n in range(8) for step in (calls((f"c{n}", *shell("seq 1 700"))), says("read"))
    ]
    script = [*reads, [gate, NetworkError("The connection broke.")], says("linked")]
    on = await stage(tmp_path, script, options=FULL)
    for n in range(8):
        await on.say(f"read {n}")
        results = [item.n for item in on.session.items if item.kind == "tool_result"]
        await on.session.window.act("mask", results[-1:])
    on.session.send("link the parts")
    await on.until(lambda: len(on.provider.requests) == 17)
    await on.session.window.act("unfold", results)
    assert on.session.reading().used > on.session.reading().limit
    gate.set()
    await on.clock.advance(await on.clock.sleeping())
    await on.session.idle()
    assert on.ended == "done"
    whole = [item for item in on.provider.requests[-1].items if item.content.count("\n") > 600]
    assert len(whole) < len(results)
    assert on.session.reading().used <= on.session.reading().usable


async def test_nothing_is_heard_before_it_is_on_disk(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("hello")])
    rollout = on.session.folder / "rollout.jsonl"
    missing = []

    def check(update: object) -> None:
        if isinstance(update, Appended) and f'"seq":{update.event.seq},' not in rollout.read_text():
            missing.append(update.event.seq)

    on.session.subscribe(check)
    await on.say("hi")
    assert not missing
    finished = on.events_of(TurnFinished)
    assert [event.state for event in finished] == ["done"]
    added = [event.item.n for event in on.events() if isinstance(event, ItemAdded)]
    assert added == [1, 2]


async def test_our_own_mistakes_end_the_turn_and_nothing_else(tmp_path: Path) -> None:
    on = await stage(tmp_path, [])  # a provider that breaks its promises
    await on.say("go")
    finished = on.events_of(TurnFinished)
    assert "AssertionError" in finished[-1].reason
    assert on.session.phase == "idle"
    on.provider.script = [says("fine")]
    await on.say("again")
    assert on.ended == "done"


async def test_a_break_between_a_call_and_its_result_does_not_part_them(tmp_path: Path) -> None:
    broken = [
        PartDone("tool_call", shell("echo one")[1], "c1", "shell"),
        TextDelta("and then"),
        NetworkError("gone"),
    ]
    on = await stage(tmp_path, [broken, says("went on")], options=Options(approvals="full"))
    await on.say("go")
    assert on.ended == "done"
    assert [[i.kind for i in atom] for atom in atoms(on.session.items)] == [
        ["user"],
        ["tool_call", "assistant", "tool_result"],
        ["assistant"],
    ]


async def test_a_whole_text_before_a_break_is_not_asked_for_twice(tmp_path: Path) -> None:
    broken = [TextDelta("All of it."), PartDone("assistant", "All of it."), NetworkError("gone")]
    on = await stage(tmp_path, [broken, says("More.")])
    on.session.send("go")
    await on.clock.sleeping()
    await on.clock.advance(60)
    await on.session.idle()
    assert on.kinds() == ["user", "assistant", "context", "assistant"]
    assert any("kept as #2" in text for text in on.told())


async def test_a_prompt_interrupted_in_the_same_breath_comes_back(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("never")])
    on.session.send("typed")
    on.session.interrupt()
    await on.session.idle()
    assert PromptReturned("typed") in on.heard
    assert not on.session.items


async def test_two_prompts_queued_as_a_turn_ends_are_each_sent_once(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("0"), says("1"), says("2")])

    def queue(update: object) -> None:
        match update:
            case Appended(event=Event(data=TurnFinished(turn=1))):
                on.session.send("one")
                on.session.send("two")

    on.session.subscribe(queue)
    await on.say("zero")
    said = on.texts("user")
    assert said == ["zero", "one", "two"]


async def test_a_file_that_changes_while_the_question_stands_is_asked_about_again(
    tmp_path: Path,
) -> None:
    edit = json.dumps({"path": "f.txt", "content": "model\n"})
    answers = Decision("yes"), Decision("no")
    on = await stage(tmp_path, [calls(("c1", "write_file", edit)), says("I see.")], *answers)
    file = tmp_path / "work" / "f.txt"
    file.write_text("old\n")
    on.user.meanwhile = lambda: file.write_text("an hour of work\n")
    await on.say("overwrite it")
    assert "an hour of work" in (on.user.asked[1].review.diff or "")
    assert "changed" in on.user.asked[1].reason
    assert file.read_text() == "an hour of work\n"


async def test_an_interrupted_edit_is_written_down_as_done(tmp_path: Path) -> None:
    content = "x" * 400_000
    call = ("c1", "write_file", json.dumps({"path": "big.txt", "content": content}))
    on = await stage(tmp_path, [calls(call)], options=Options(approvals="full"))
    on.session.subscribe(
        lambda u: on.session.interrupt() if type(u).__name__ == "ToolStarted" else None
    )
    await on.say("write it")
    result = on.session.items[-1]
    assert (result.kind, result.state) == ("tool_result", "complete")
    assert (tmp_path / "work" / "big.txt").read_text() == content
    seen = on.events_of(ArtifactObserved)
    assert any(event.uri == "big.txt" and event.hash for event in seen)
    assert on.ended == "interrupted"


async def test_what_is_queued_behind_a_command_is_sent_after_it(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("I saw.")])
    on.session.run_command("sleep 0.2")
    await on.say("and?")
    assert on.kinds() == ["context", "user", "assistant"]


async def test_a_command_during_a_turn_runs_once_that_has_ended(tmp_path: Path) -> None:
    reply = asyncio.Event()
    on = await stage(tmp_path, [[reply, *says("First.")], says("Second.")])
    on.session.send("one")
    await on.until(lambda: on.provider.requests)
    on.session.run_command("echo meanwhile")
    on.session.send("two", steers=False)
    assert [waits.text for waits in on.session.queue] == ["!echo meanwhile", "two"]
    reply.set()
    await on.session.idle()
    assert on.kinds() == ["user", "assistant", "context", "user", "assistant"]
    assert "meanwhile\n[exit code 0" in on.session.items[2].content
    assert not on.session.queue


async def test_a_command_that_waits_comes_back_where_the_turn_is_interrupted(
    tmp_path: Path,
) -> None:
    on = await stage(tmp_path, [[asyncio.Event()]])
    on.session.send("one")
    await on.until(lambda: on.provider.requests)
    on.session.run_command("echo meanwhile")
    on.session.interrupt()
    await on.session.idle()
    assert PromptReturned("!echo meanwhile") in on.heard
    assert on.kinds() == ["user"]


async def test_an_interrupted_command_keeps_its_output_and_gives_the_queue_back(
    tmp_path: Path,
) -> None:
    on = await stage(tmp_path, [])
    heard = asyncio.Event()
    on.session.subscribe(lambda u: heard.set() if type(u).__name__ == "ToolOutput" else None)
    on.session.run_command("echo kept; sleep 614")
    on.session.send("later")
    await heard.wait()
    on.session.interrupt()
    await on.session.idle()
    assert "kept" in on.session.items[0].content
    assert on.session.items[0].state == "interrupted"
    assert PromptReturned("later") in on.heard
    assert on.session.phase == "idle"

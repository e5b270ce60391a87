"""`checkpoint_v1.json` is current whenever the session is at rest."""

import asyncio
from pathlib import Path

import msgspec

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.checkpoint import persist
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.journal import Journal

OPTIONS = Options(
    approvals="full",
    auto="off",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
)


async def worked(root: Path) -> Stage:
    script = []
    for turn in range(4):
        script.append(calls((f"c{turn}", "shell", '{"command": "seq 1 300"}')))
        script.append(says(f"Read part {turn}."))
    at = await stage(root, script, options=OPTIONS)
    await at.say(*(f"read part {turn}" for turn in range(4)))
    return at


def is_current(at: Stage) -> bool:
    """Whether the file is there and is what the whole journal makes."""
    state = CheckpointState()
    with Journal.open(at.session.folder, at.clock.now, read_only=True) as journal:
        for event in journal.read():
            state.step(event)
    return persist.load(at.session.folder, state.seq) == state.snapshot()


async def test_it_is_there_before_the_first_turn_and_after_it(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes.")])
    await at.session.idle()
    assert is_current(at)
    await at.say("hello")
    assert is_current(at)
    found = persist.load(at.session.folder, at.session._record.state.seq)
    assert found is not None
    assert found.task is not None
    assert found.task.text == "hello"


async def test_it_is_current_after_every_change_of_the_window(tmp_path: Path) -> None:
    at = await worked(tmp_path)
    window = at.session.window
    for change in (
        lambda: at.session.compact("checkpoint"),
        window.undo,
        lambda: at.session.compact("prune"),
        lambda: window.restore(0),
        window.undo,
        lambda: window.act("pin", [1]),
        window.undo,
        lambda: window.set_goal("ship"),
    ):
        await change()
        await at.session.idle()
        assert is_current(at)


async def test_it_is_current_once_the_session_is_closed_and_goes_on_from_there(
    tmp_path: Path,
) -> None:
    at = await worked(tmp_path)
    at.session.run_command("echo one")
    await at.session.close()
    assert is_current(at)
    again = await at.again([says("On.")], options=OPTIONS)
    again.session.send("now part 9")
    await again.session.close()
    assert is_current(again)


async def test_a_compaction_within_a_turn_writes_it_too(tmp_path: Path) -> None:
    at = await worked(tmp_path)
    at.session.set_threshold("auto")
    at.session.set_threshold("0.1")
    gate = asyncio.Event()
    at.provider.script = [[gate, *says("Done.")]]
    at.session.send("go on")
    await at.until(lambda: len(at.session.window.generations) == 2)
    await at.session._parts.checkpoint_file.written()
    seq = at.session.window.boundaries[-1].seq
    found = msgspec.json.decode((at.session.folder / persist.FILE).read_bytes())
    assert found["seq"] >= seq
    gate.set()
    await at.session.idle()


async def test_a_file_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    at = await stage(tmp_path, [says("Yes."), says("Yes.")])
    await at.session.idle()
    (at.session.folder / persist.FILE).unlink()
    (at.session.folder / persist.FILE).mkdir()
    await at.say("hello")
    assert at.ended == "done"
    (at.session.folder / persist.FILE).rmdir()
    await at.say("hello again")
    assert is_current(at)


async def test_a_session_that_is_read_only_writes_none(tmp_path: Path) -> None:
    at = await worked(tmp_path)
    await at.session.close()
    (at.session.folder / persist.FILE).unlink()
    look = await at.again(read_only=True)
    await look.session.close()
    assert not (at.session.folder / persist.FILE).exists()

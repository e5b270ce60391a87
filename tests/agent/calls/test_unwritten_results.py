"""A disk that fills while calls run: what the journal says of them is true."""

import asyncio
import json
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.full_disk import room_for
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.agent.updates import ToolStarted
from pinfold.rollout.events import ArtifactObserved
from pinfold.rollout.items import Item

FULL = Options(approvals="full")


def call(call_id: str, command: str) -> tuple[str, str, str]:
    return call_id, "shell", json.dumps({"command": command})


async def ran_while_the_disk_fills(root: Path, room: int) -> Stage:
    """Two calls, of which the first has run when only `room` bytes are left."""
    on = await stage(root, [], options=FULL)
    gate = root / "gate"
    on.provider.script = [
        calls(
            call("c1", f"until [ -e {gate} ]; do sleep 0.01; done; seq 1 2000; touch done"),
            call("c2", "touch never"),
        ),
        says("I see."),
    ]
    on.session.send("go")
    await on.until(lambda: any(isinstance(update, ToolStarted) for update in on.heard))
    with room_for(on.session.folder / "rollout.jsonl", room):
        gate.touch()
        await on.session.idle()
    assert (on.session.cwd / "done").exists()
    assert not (on.session.cwd / "never").exists()
    assert on.ended in ("failed", "")
    return on


def results(on: Stage) -> dict[str | None, Item]:
    return {item.call_id: item for item in on.session.items if item.kind == "tool_result"}


@pytest.mark.parametrize("room", [10, 2_500], ids=["for nothing", "for a few words"])
async def test_a_call_that_ran_is_never_called_not_run(tmp_path: Path, room: int) -> None:
    on = await ran_while_the_disk_fills(tmp_path, room)
    assert bool(results(on)) == (room > 10)
    await on.say("and now?")
    found = results(on)
    assert found["c1"].content.startswith("Ran; its result could not be written.")
    assert found["c2"].content.startswith("Not run")
    assert {item.state for item in found.values()} == {"unknown"}
    seen = {event.uri: event for event in on.events() if isinstance(event, ArtifactObserved)}
    assert any(uri.startswith("cmd:until") for uri in seen)
    await on.session.close()


async def test_nor_is_it_after_a_restart(tmp_path: Path) -> None:
    on = await ran_while_the_disk_fills(tmp_path, 10)
    again = await on.again(options=FULL)
    assert results(again)["c1"].content.startswith("Unknown")
    await again.session.close()


async def test_what_stopped_because_of_a_neighbour_was_not_stopped_by_the_user(
    tmp_path: Path,
) -> None:
    """Calls that only read run at once; the first that can't be written ends them all."""
    on = await stage(tmp_path, [], options=FULL)
    (on.session.cwd / "long").write_text("a line\n" * 3_000)
    read = ("c1", "read_file", json.dumps({"path": "long"}))
    seek = ("c2", "grep", json.dumps({"pattern": "line", "path": "long"}))
    gate = asyncio.Event()
    on.provider.script = [[gate, *calls(read, seek)], says("I see.")]
    on.session.send("read")
    await on.until(lambda: bool(on.provider.requests))
    with room_for(on.session.folder / "rollout.jsonl", 4_000):
        gate.set()
        await on.session.idle()
    await on.say("and now?")
    assert "user interrupted" not in " ".join(item.content for item in results(on).values())
    await on.session.close()


async def test_a_command_of_the_user_that_ran_is_told_so(tmp_path: Path) -> None:
    on = await stage(tmp_path, [], options=FULL)
    with room_for(on.session.folder / "rollout.jsonl", 10):
        on.session.run_command("echo hello")
        await on.session.idle()
    assert on.told()[-1].startswith("The command ran, but its output could not be written.")
    await on.session.close()

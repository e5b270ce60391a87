"""kill -9 of a real pinfold whose agents run commands."""

import json
import signal
from pathlib import Path

import pytest

from fakes.openai_server import Call, FakeOpenAI, Recorded, Reply
from fakes.process import Pinfold, until
from pinfold.rollout.codec import decode
from pinfold.rollout.events import ChildFinished, ChildStarted

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc")


def running(marker: str) -> list[str]:
    """The processes whose command line has the marker as a word."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended
            continue
        found += [" ".join(words)] if marker in words else []
    return found


@pytest.mark.slow
async def test_no_process_stays_and_the_parent_is_told(tmp_path: Path) -> None:
    marker = f"86399.{tmp_path.stat().st_ino}"
    loose = f"(setsid sleep {marker} &) ; sleep {marker}"

    def answer(request: Recorded) -> Reply | None:
        asked = json.dumps(request.body["messages"][-1])
        for n in range(1, 5):
            if f"dig {n}" in asked:
                command = json.dumps({"command": loose, "timeout": 600})
                return Reply("Digging.", calls=(Call("shell", command, f"s{n}"),))
        return None

    tasks = (
        Call("task", json.dumps({"description": "dig", "prompt": f"dig {n}", **more}), f"t{n}")
        for n, more in enumerate(({}, {}, {"fork_turns": "all"}, {"background": True}), 1)
    )
    script = [Reply(calls=tuple(tasks)), Reply("I see.")]
    async with FakeOpenAI(script, answer=answer) as server:
        pinfold = Pinfold(tmp_path, **Pinfold.on(server.url))
        process = await pinfold.start("exec", "--approvals", "full", "start")
        await until(lambda: len(running(marker)) >= 8)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        await until(lambda: not running(marker))

        ended = await pinfold.run("exec", "--last", "--approvals", "full", "and now?")
        assert (ended.code, ended.out) == (0, "I see.\n")
        sent = json.dumps(server.bodies[-1]["messages"])
        for n in (1, 2, 3):
            assert f"Agent a{n} was interrupted: pinfold stopped." in sent
        assert "[agent a4 \\u00b7 interrupted: pinfold stopped" in sent
    (rollout,) = pinfold.rollouts()
    events = [decode(line).data for line in rollout.read_bytes().splitlines()]
    ends = [event for event in events if isinstance(event, ChildFinished)]
    assert [end.child for end in ends] == [1, 2, 3, 4]
    assert len([event for event in events if isinstance(event, ChildStarted)]) == 4
    # What they had used until then counts.
    assert all(usage.output == 5 for end in ends for usage in end.models.values())
    assert all(end.models and end.items for end in ends)

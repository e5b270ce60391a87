"""A process that is killed between any two steps loses nothing and doubles nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.remembering import LAST_USED, session

SCRIPT = """
import asyncio, json, os, signal, shutil, sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine, event

from fakes.provider import FakeClock
from fakes.remembering import NOW
from pinfold.memories.pipeline import Phase1
from pinfold.memories.leases import LEASE
from pinfold.memories.state import MemoriesState
from pinfold.rollout.store import SessionStore
from pinfold.settings import MemorySettings

left = -1  # steps until the process kills itself


def step(*_, **__):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def opened(name, args):
    if name == "open" and "rollout.jsonl" in str(args[0]):
        step()


sys.addaudithook(opened)
for name in "before_cursor_execute", "after_cursor_execute", "commit":
    event.listen(Engine, name, step)


class Clock(FakeClock):
    at = NOW

    def now(self):
        return self.at


def run(home, later=0.0):
    clock = Clock()
    clock.at += timedelta(seconds=later)
    with closing(MemoriesState(home, clock.now)) as state:
        phase = Phase1(state, SessionStore(home), MemorySettings(), clock, limit=16)
        results = asyncio.run(phase.run()).results
        rows = [[o.session_id, o.raw_memory, o.usage_count] for o in state.outputs()]
        return [results, rows, [[j.key, j.status, j.attempts] for j in state.jobs()]]


source, scratch = map(Path, sys.argv[1:])
whole = None
steps = 0
while True:
    steps += 1
    home = scratch / str(steps)
    shutil.copytree(source, home)  # copies the times, too
    child = os.fork()
    if child == 0:
        left = steps
        run(home)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        break
    again, rows, jobs = run(home)
    later, rows, jobs = run(home, LEASE)
    assert not again.keys() & later.keys(), steps  # nothing twice
    whole = whole or rows
    assert rows == whole, steps  # nothing lost
    assert {tuple(job[1:]) for job in jobs} == {("succeeded", 0)}, (steps, jobs)
    assert run(home, 2 * LEASE)[0] == {}, steps
    shutil.rmtree(home)
print(json.dumps([steps, rows]))
"""


@pytest.mark.slow
def test_a_kill_between_any_two_steps_loses_and_doubles_nothing(tmp_path: Path) -> None:
    source = tmp_path / "source"
    names = {session(source, used=LAST_USED), session(source, used=LAST_USED)}
    (tmp_path / "scratch").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(source), str(tmp_path / "scratch")],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    steps, rows = json.loads(done.stdout)
    assert steps > 40
    assert {row[0] for row in rows} == names

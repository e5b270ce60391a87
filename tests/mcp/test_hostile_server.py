"""What a hostile server can't do: outlive pinfold, or hold up its keys."""

import asyncio
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from fakes.mcp import fake, servers, started
from pinfold.ports.tool import ToolError

HOLDER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fakes.mcp import fake, servers, started

async def main():
    given = servers(Path(sys.argv[2]), fake(f"child={sys.argv[3]}"))
    assert (await started(given)).state == "ready"
    print("ready", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


def living(seconds: str) -> list[str]:
    """The processes that have this word on their command line."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if seconds in words or f"child={seconds}" in words:
            found.append(" ".join(words))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it needs /proc")
def test_kill_9_leaves_no_process(tmp_path: Path) -> None:
    tests = str(Path(__file__).parents[1])
    for attempt in range(20):
        seconds = f"3456.{time.time_ns()}{attempt}"
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, tests, str(tmp_path), seconds], stdout=subprocess.PIPE
        )
        assert holder.stdout is not None
        with holder.stdout:
            assert holder.stdout.readline() == b"ready\n"
            assert len(living(seconds)) >= 3  # the holder, the server and what that started
            holder.send_signal(signal.SIGKILL)
            holder.wait()
        until = time.monotonic() + 20
        while living(seconds) and time.monotonic() < until:
            time.sleep(0.05)
        assert living(seconds) == []


@pytest.mark.slow
@pytest.mark.parametrize("bad", ["long", "wide", "many", "quotes", "deep", "flood", "large"])
async def test_no_key_waits_for_a_hostile_server(tmp_path: Path, bad: str) -> None:
    """The machine may do other things: what counts is the least of three, and only time in which
    pinfold itself worked."""
    given = servers(tmp_path, fake())
    worst: list[float] = []
    try:
        for _ in range(3):
            assert (await started(given)).state == "ready"
            call = asyncio.create_task(given.call("fake", "bad", {"how": bad}, lambda _: None))
            longest = 0.0
            while not call.done():
                wall, own = time.perf_counter(), time.process_time()
                await asyncio.sleep(0.001)
                waited = min(time.perf_counter() - wall, time.process_time() - own)
                longest = max(longest, waited)
            with suppress(ToolError):
                assert len((await call).output) < 1_000_000
            worst.append(longest)
    finally:
        await given.aclose()
    assert min(worst) < 0.05, worst

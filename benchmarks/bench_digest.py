"""The digest for other agents: what `pinfold digest` and its hook take, on recorded sessions."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.bench_memory_kept import SESSIONS
from benchmarks.bench_start import PINFOLD, started
from benchmarks.figures import Figure
from pinfold.digests.words import tokens
from pinfold.other_agents.answer import FILE

RUNS = 11
SIZE = 4_000_000
"""Bytes of the session that is timed alone: the recording that is nearest."""
OWN_WORK = """
import sys, time
from pathlib import Path

from pinfold import paths
from pinfold.adopt import claude, codex, detect
from pinfold.thinning import Thinner
from pinfold.tokens import encodings

encodings.get("o200k_base", paths.cache_folder())
began = time.process_time()
Thinner(detect.read(Path(sys.argv[1])).events).thin(8_000)
print(time.process_time() - began)
"""
"""Seconds of CPU after imports and vocabulary."""


def run() -> Iterator[Figure]:
    yield from importing()
    found = {tool: sorted((SESSIONS / tool).glob("*.jsonl")) for tool in ("claude", "codex")}
    if not all(found.values()):
        print(f"Left out: there are no recorded sessions in {SESSIONS}.", flush=True)
        return
    every = [file for files in found.values() for file in files]
    yield from one(min(every, key=lambda file: abs(file.stat().st_size - SIZE)))
    for tool, files in found.items():
        yield from answered(tool, files)


def importing() -> Iterator[Figure]:
    """`import pinfold`, against an interpreter that does nothing."""
    took: dict[str, list[float]] = {"pass": [], "import pinfold": []}
    for _ in range(RUNS):
        for script, walls in took.items():
            walls.append(1000 * started([sys.executable, "-c", script]).wall)
    bare, own = map(median, took.values())
    yield Figure("`import pinfold`", own, "ms", bare, "bare python", 3)


def one(file: Path) -> Iterator[Figure]:
    """The digest of a session from the command to its end, and what of it is our own work."""
    command = [*PINFOLD, "digest", str(file)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # it does what is timed
    runs = [started(command) for _ in range(RUNS)]
    name = f"a session of {file.stat().st_size / 1e6:.1f} MB"
    yield Figure(f"{name}, median", median(run.wall for run in runs), "s", target=1.2)
    yield Figure(f"{name}, CPU, median", median(run.cpu for run in runs), "s CPU")
    script = [sys.executable, "-c", OWN_WORK, str(file)]
    own = [
        float(subprocess.run(script, check=True, capture_output=True).stdout) for _ in range(RUNS)
    ]
    yield Figure(f"{name}, our own work, median", median(own), "s CPU", target=0.3)


def answered(tool: str, files: list[Path]) -> Iterator[Figure]:
    """The hook on each session of a tool, as the agent would run it after a compaction."""
    walls: list[float] = []
    told: list[int] = []
    spilled = 0
    with tempfile.TemporaryDirectory() as root:
        for file in files:
            transcript = Path(shutil.copy(file, root))
            wall, context = _hook(transcript)
            walls.append(wall)
            told.append(tokens(context))
            spilled += transcript.with_name(transcript.stem + FILE).exists()
    name = f"hook, {len(files)} sessions of {tool}"
    yield Figure(f"{name}, median", median(walls), "s")
    yield Figure(f"{name}, slowest", max(walls), "s", target=2)
    yield Figure(f"{name}, unanswered", sum(count == 0 for count in told), "", target=0)
    yield Figure(f"{name}, what the answer takes, median", median(told), "tokens")
    yield Figure(f"{name}, answers with a file beside the session", spilled, "")


def _hook(transcript: Path) -> tuple[float, str]:
    hook = {"hook_event_name": "SessionStart", "source": "compact"}
    given = json.dumps({**hook, "transcript_path": str(transcript), "cwd": str(transcript.parent)})
    began = time.perf_counter()
    done = subprocess.run(
        [*PINFOLD, "digest", "--hook"], input=given, capture_output=True, text=True, check=True
    )
    wall = time.perf_counter() - began
    output = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}
    return wall, output.get("additionalContext", "")

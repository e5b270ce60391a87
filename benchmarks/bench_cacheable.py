"""The prompt cache: characters of requests with which no earlier one began.

Of all characters, and of as many as the request before had: what is new can be in no cache.
"""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bench_memory_kept import SESSIONS
from benchmarks.figures import Figure
from pinfold.adopt import detect
from pinfold.agent.options import Options
from pinfold.agent.updates import Appended, Update
from pinfold.ports.provider import ModelInfo, Request
from pinfold.rollout.events import RequestFinished

LARGEST = 1_500_000
"""Bytes of a recording: larger ones take minutes."""
MODEL = ModelInfo("m", "p", 32_000, "config", 8_192)
GOAL = 0.1
BEFORE = 0.25
"""Of all characters, in 46 requests of a strong model in 32k, before the front stayed as it was."""
TESTS = Path(__file__).parents[1] / "tests"


def run() -> Iterator[Figure]:
    sys.path.insert(0, str(TESTS))  # the scripted session is one of its fakes
    yield from figures("40 requests of a script, 32k", [asyncio.run(scripted())])
    files = sorted(SESSIONS.glob("c*/*.jsonl"))
    small = [file for file in files if file.stat().st_size < LARGEST]
    if not small:
        print(f"Left out: there are no recorded sessions in {SESSIONS}.", flush=True)
        return
    yield from figures(
        f"{len(small)} recorded sessions, compacted by layered in 32k",
        [asyncio.run(recorded(file)) for file in small],
    )


def figures(title: str, sequences: Sequence[list[str]]) -> Iterator[Figure]:
    from fakes.cacheable import served

    cached = sum(served(texts) for texts in sequences)
    every = sum(len(text) for texts in sequences for text in texts[1:])
    best = sum(min(len(one), len(other)) for texts in sequences for one, other in pairwise(texts))
    told = "a strong model's 46 requests, before"
    yield Figure(f"{title}: of all", 1 - cached / every, "", baseline=BEFORE, against=told)
    yield Figure(f"{title}: of as many as before", 1 - cached / best, "", target=GOAL)


async def scripted() -> list[str]:
    from fakes.cacheable import sent
    from fakes.strong_session import play

    with TemporaryDirectory() as place:
        played = await play(Path(place))
        await played.at.session.close()
        return [sent(request) for request in played.requests]


async def recorded(file: Path) -> list[str]:
    """The requests of a recording, as its window would have been compacted here."""
    from fakes.agent import stage
    from fakes.cacheable import sent

    texts: list[str] = []
    with TemporaryDirectory() as place:
        on = await stage(Path(place), [], model=MODEL, options=Options())
        session = on.session

        def hear(update: Update) -> None:
            if not isinstance(update, Appended):
                return
            match update.event.data:
                case RequestFinished(purpose="turn"):
                    record = session._record
                    if not record.window.open_calls:
                        context = record.state.context.context
                        texts.append(sent(Request(MODEL, context, record.window.items)))

        session.subscribe(hear)
        session.play(list(detect.read(file).events), 0, own=True)
        await session.idle()
        await session.close()
    return texts

"""Counting: how far the gauge is from what providers then report, before each request."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles

from msgspec.structs import replace

from benchmarks.figures import Figure
from pinfold.adopt import detect
from pinfold.ports.provider import ModelInfo, Request, ResponseDone
from pinfold.providers import embedded
from pinfold.rollout.context import Context
from pinfold.rollout.events import (
    ContextSet,
    Data,
    Event,
    ItemAdded,
    ModelChanged,
    RequestFinished,
    TurnStarted,
    WindowReplaced,
)
from pinfold.rollout.items import Item, Origin
from pinfold.rollout.values import Usage
from pinfold.settings import WireApi
from pinfold.tokens.catalog import CL100K, O200K
from pinfold.tokens.counter import Counter
from pinfold.window.gauge import Gauge
from pinfold.window.window import Window

ROOT = Path(__file__).parents[1]
SESSIONS = Path(os.environ.get("PINFOLD_SESSIONS") or ROOT.parent / "shared" / "sessions")
"""Recorded sessions of other tools; they are no part of the project."""
MEDIAN, P95, UNCALIBRATED = 2.0, 15.0, 10.0
"""The largest errors that are good, in percent."""
REQUESTS = 15
READ = ["app/pinfold/cli.py", "AGENTS.md", "app/pinfold/demo/rollout.jsonl"]
"""What the embedded model is shown: code, prose, JSON."""
SHARE = 11_000
"""Characters of each."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One request: what the gauge said before it was sent, and what the provider reported."""

    estimate: int
    """As counted, with nothing learned."""
    calibrated: int
    """The same, corrected by the earlier requests of the session."""
    shown: int
    """What the gauge shows: the last report and the corrected rest."""
    tokens: int
    generation: int
    """Of the window."""


def run() -> Iterator[Figure]:
    files = sorted((SESSIONS / "codex").glob("*.jsonl"))
    if files:
        yield from recorded(files)
    else:
        print(f"Left out: there are no recorded Codex sessions in {SESSIONS}.", flush=True)
    model = embedded.available()
    if model:
        session = samples(asyncio.run(grown(model)), CL100K, "chat")
        yield from errors("embedded model", [session])
    else:
        print(f"Left out: {' '.join(embedded.missing())}", flush=True)


def recorded(files: list[Path]) -> Iterator[Figure]:
    """Codex sessions, adopted, against the `token_count` events in them."""
    sessions = [samples(detect.read(file).events, O200K, "responses") for file in files]
    yield from errors("Codex", sessions)
    # The tools that Codex told its model of are not in the file: the first report shows their size.
    tools = [
        error(sample.estimate + first.tokens - first.estimate, sample)
        for first, *rest in sessions
        for sample in rest
    ]
    name = "Codex, nothing learned but the size of the tools, which the file lacks"
    yield Figure(f"{name}: median", median(tools), "%", target=UNCALIBRATED)
    yield Figure(f"{name}: p95", p95(tools), "%")
    compacted = [
        error(sample.calibrated, sample)
        for session in sessions
        for before, sample in pairwise(session)
        if sample.generation > before.generation
    ]
    yield Figure("Codex, first request after a compaction: median", median(compacted), "%")


def errors(name: str, sessions: list[list[Sample]]) -> Iterator[Figure]:
    """The errors over all requests but the first of a session, from which nothing is known yet."""
    requests = [sample for session in sessions for sample in session[1:]]
    values: list[tuple[str, Callable[[Sample], int], float | None, float | None]] = [
        ("nothing learned", lambda sample: sample.estimate, None, None),
        ("calibrated", lambda sample: sample.calibrated, MEDIAN, P95),
        ("gauge", lambda sample: sample.shown, MEDIAN, P95),
    ]
    for what, told, largest_median, largest_p95 in values:
        off = [error(told(sample), sample) for sample in requests]
        about = f"{name}, {what} ({len(off)} requests)"
        yield Figure(f"{about}: median", median(off), "%", target=largest_median)
        yield Figure(f"{about}: p95", p95(off), "%", target=largest_p95)


def error(told: int, sample: Sample) -> float:
    """Percent of what was reported."""
    return 100 * abs(told - sample.tokens) / sample.tokens


def p95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def samples(events: Iterable[Event], encoding: str, wire_api: WireApi) -> list[Sample]:
    """Fold the events, and take the gauge's word where each request was sent."""
    events = list(events)
    sent = {e.data.through_seq for e in events if isinstance(e.data, RequestFinished)}
    counter = Counter(encoding)
    counter.load()
    window = Window()
    gauge = Gauge(window, counter, wire_api)
    model = ModelInfo("", "", 0, "assumed")
    told: dict[int, tuple[int, int, int]] = {}
    found: list[Sample] = []
    generation = 0
    for event in events:
        data = event.data
        if isinstance(data, WindowReplaced):
            generation = data.generation
        if isinstance(data, RequestFinished) and data.usage and data.usage.input:
            before = told[data.through_seq]
            found.append(Sample(*before, data.usage.input, generation))
            data = replace(data, estimate=before[0])  # another tool's session has no estimates
        for projection in (window, gauge):
            projection.step(replace(event, data=data))
        if event.seq in sent:
            estimate = gauge.estimate
            told[event.seq] = estimate, gauge.correct(estimate), gauge.reading(model).used
    return found


async def grown(model: ModelInfo) -> list[Event]:
    """A session that fills the model's window piece by piece.

    The model's server counts each request by itself, which is what it would report; the first
    request is sent, to see that this is so.
    """
    text = "\n".join((ROOT / name).read_text(encoding="utf-8")[:SHARE] for name in READ)
    size = len(text) // (2 * REQUESTS)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    context = Context(instructions="Say in one short sentence what you read.")
    started = ModelChanged(
        provider=model.provider,
        model=model.name,
        context_window=model.context_window,
        window_source=model.window_source,
    )
    told: list[Data] = [started, ContextSet(hash="", context=context)]
    items: list[Item] = []
    provider = embedded.Embedded()

    async def add(item: Item) -> int:
        items.append(item)
        told.append(ItemAdded(item=item))
        return await provider.count(Request(model, context, tuple(items))) or 0

    try:
        await provider.warm()
        for turn in range(1, REQUESTS + 1):
            told.append(TurnStarted(turn=turn))
            prompt, reply = pieces[2 * turn - 2 : 2 * turn]
            tokens = await add(Item(n=2 * turn - 1, kind="user", content=prompt, turn=turn))
            through = len(told)
            if turn == 1:
                request = Request(model, context, tuple(items))
                done = [d async for d in provider.stream(request) if isinstance(d, ResponseDone)]
                assert done[0].usage
                assert done[0].usage.input == tokens
            origin = Origin(model.provider, model.name)
            whole = await add(
                Item(
                    n=2 * turn,
                    kind="assistant",
                    content=reply,
                    turn=turn,
                    response=turn,
                    origin=origin,
                )
            )
            told.append(
                RequestFinished(
                    purpose="turn",
                    provider=model.provider,
                    model=model.name,
                    response=turn,
                    through_seq=through,
                    estimate=0,
                    status="ok",
                    usage=Usage(input=tokens, output=whole - tokens),
                )
            )
    finally:
        await provider.close()
    at = datetime.now(UTC)
    return [Event(seq, at, data) for seq, data in enumerate(told, 1)]

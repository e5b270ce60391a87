"""Compaction: viewing, planning, checking and the event, of windows of 200k and of 1M tokens."""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from statistics import quantiles

from benchmarks.figures import Figure
from pinfold.agent.projections import folded
from pinfold.compaction.engine import event_of, plan_with
from pinfold.compaction.loss import loss_of
from pinfold.compaction.report import report_of
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import (
    ArtifactObserved,
    Data,
    Event,
    ItemAdded,
    SessionStarted,
    WindowReplaced,
)
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

ITEMS = 5_000
RUNS = 30
SIZES = {"200k tokens": (4, 25), "1M tokens": (27, 80)}
"""Lines of each tool result, and milliseconds that planning may take."""


def working(lines: int) -> Iterable[Data]:
    """Turns of ten items: a request, two rounds of two calls, an answer."""
    line = "    return self._bytes[:limit]  # src/reader_{n}.py\n"
    yield SessionStarted(schema=1, id="s", cwd="/w", version="0")
    n = 0
    for turn in range(1, ITEMS // 10 + 1):
        n += 1
        yield ItemAdded(item=Item(n=n, kind="user", content=f"Look at reader {turn}.", turn=turn))
        for response in (3 * turn, 3 * turn + 1):
            ids = [f"call_{response:020x}{at}" for at in range(2)]
            written = {"turn": turn, "response": response, "name": "read_file"}
            path = f"src/reader_{turn % 300}.py"
            for call_id in ids:
                n += 1
                arguments = f'{{"path": "{path}"}}'
                yield _added(n, "tool_call", arguments, call_id=call_id, **written)
            for call_id in ids:
                n += 1
                body = line.format(n=n) * lines
                yield _added(n, "tool_result", body, call_id=call_id, **written)
                yield ArtifactObserved(
                    uri=path, kind="file", op="read", hash=f"{turn:040x}", item=n
                )
        n += 1
        answer = f"Reader {turn} gives back its bytes up to the limit."
        yield _added(n, "assistant", answer, turn=turn, response=3 * turn + 2)


def _added(n: int, kind: str, content: str, **more: object) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind=kind, content=content, **more))  # type: ignore[arg-type]


def run() -> Iterable[Figure]:
    counter = Counter("o200k_base")
    counter.load()
    for name, (lines, target) in SIZES.items():
        yield from figures(name, working(lines), target, counter)


def figures(name: str, told: Iterable[Data], target: int, counter: Counter) -> Iterable[Figure]:
    events = (Event(seq, datetime.now(UTC), data) for seq, data in enumerate(told, 1))
    projections = folded(events, counter, "responses")
    window, gauge = projections.window, projections.gauge
    size = sum(gauge.tokens)
    model = ModelInfo("m", "p", int(size * 1.2), "config", 32_000)

    def look() -> WindowView:
        return projections.view(model)

    view = look()

    def plan(strategy: str) -> WindowReplaced:
        planned = plan_with(strategy, view, Material(), PlanOptions())
        return event_of(planned, ITEMS + 1, 1, "manual")

    yield Figure(f"the window, {name}", size / 1e3, "k tokens")
    yield Figure(f"view, {name}, p95", p95(look), "ms CPU")
    yield Figure(
        f"checkpoint: the first plan of a view, {name}", once(lambda: plan("checkpoint")), "ms CPU"
    )
    about = f"plan, check and event, {name}, p95"
    yield Figure(f"checkpoint: {about}", p95(lambda: plan("checkpoint")), "ms CPU", target=target)
    yield Figure(f"prune: {about}", p95(lambda: plan("prune")), "ms CPU")
    planned = plan_with("checkpoint", view, Material(), PlanOptions())
    yield Figure(f"dry-run report, {name}", once(lambda: report_of(view, planned)), "ms CPU")
    yield Figure(f"loss report, {name}", once(lambda: loss_of(view, planned)), "ms CPU")
    applied = Event(window.seq + 1, datetime.now(UTC), plan("checkpoint"))
    yield Figure(f"apply, {name}", once(lambda: (window.step(applied), gauge.tokens)), "ms CPU")


def once(act: Callable[[], object]) -> float:
    """CPU milliseconds."""
    before = time.process_time()
    act()
    return (time.process_time() - before) * 1e3


def p95(act: Callable[[], object]) -> float:
    """CPU milliseconds, warm."""
    act()
    return quantiles([once(act) for _ in range(RUNS)], n=20)[-1]

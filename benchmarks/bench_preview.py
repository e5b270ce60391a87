"""The preview: two windows of some 200 KB as a diff, to its paint."""

import asyncio
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from statistics import median

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual_diff_view import DiffView

from benchmarks.bench_compaction import p95, working
from benchmarks.figures import Figure
from pinfold.checkpoint.known import Known
from pinfold.compaction.engine import plan_with
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.rendering import rendered, rendered_now
from pinfold.compaction.report import DryRunReport, report_of
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView, view_of
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Event, ItemAdded
from pinfold.tokens.counter import Counter
from pinfold.tui.panels.preview_list import PreviewList
from pinfold.tui.panels.preview_rows import rows_of
from pinfold.tui.panels.preview_summary import PreviewSummary
from pinfold.tui.themes import fallbacks
from pinfold.window.gauge import Gauge
from pinfold.window.show import Shown
from pinfold.window.window import Window

SIZE = (120, 40)
WINDOW = 270_000
"""Characters of the window before; the next, with every second response masked, has half of them:
together as much as two windows of 200 KB, with as many changes as a diff can have."""
RESPONSE = 5
"""Items, with the results."""
RUNS = 15


class Ours(App[None]):
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fallbacks(self.current_theme)

    def compose(self) -> ComposeResult:
        yield PreviewSummary()
        yield PreviewList()


class Theirs(App[None]):
    def compose(self) -> ComposeResult:
        yield VerticalScroll()


def view() -> WindowView:
    """A session of some two hundred results, on a model that it fills."""
    counter = Counter("o200k_base")
    counter.load()
    window, known = Window(), Known()
    gauge = Gauge(window, counter, "responses")
    characters = 0
    for seq, data in enumerate(working(lines=20), 1):
        event = Event(seq, datetime.now(UTC), data)
        for projection in (window, gauge, known):
            projection.step(event)
        if isinstance(data, ItemAdded):
            characters += len(data.item.content)
            if characters > WINDOW and data.item.kind == "assistant":
                break
    model = ModelInfo("m", "p", sum(gauge.tokens), "config", 0)
    return view_of(window, gauge, known, model)


def text_of(shown: Iterable[Shown]) -> str:
    return "\n".join(entry.item.content for entry in shown)


def planned(seen: WindowView) -> CompactionPlan:
    """Every second response keeps its results."""
    kept = (entry.n for at, entry in enumerate(seen.entries) if at // RESPONSE % 2)
    return plan_with("prune", seen, Material(), PlanOptions(keep=frozenset(kept)))


async def ours(report: DryRunReport, plan: CompactionPlan) -> float:
    """Median CPU milliseconds from the plan's report to the paint."""
    app, took = Ours(), []
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        summary, listed = app.query_one(PreviewSummary), app.query_one(PreviewList)
        for _ in range(RUNS):
            listed.show_rows([])
            await pilot.pause()
            before = time.process_time()
            summary.show(report)
            listed.show_rows(rows_of(report, plan, edited=False))
            await pilot.pause()
            took.append((time.process_time() - before) * 1e3)
    return median(took)


async def theirs(one: str, other: str) -> float:
    """CPU milliseconds of the baseline, from both texts to the paint."""
    app = Theirs()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        before = time.process_time()
        diff = DiffView("before.txt", "after.txt", one, other)
        await diff.prepare()
        await app.query_one(VerticalScroll).mount(diff)
        await pilot.pause()
        return (time.process_time() - before) * 1e3


def run() -> Iterable[Figure]:
    seen = view()
    plan = planned(seen)
    report = report_of(seen, plan)
    one = text_of(rendered_now(seen))
    other = text_of(rendered(seen, plan.window, plan.inserted))
    yield Figure("the window before", len(one) / 1e3, "KB")
    yield Figure("the window after", len(other) / 1e3, "KB")
    made = p95(lambda: report_of(seen, planned(seen)))
    yield Figure("plan, check and report, p95", made, "ms CPU")
    took = asyncio.run(ours(report, plan))
    baseline = asyncio.run(theirs(one, other))
    against = "textual-diff-view on both texts"
    yield Figure("the diff, to paint", took, "ms CPU", baseline, against, 1 / 100)

"""The dry-run report, to the byte."""

import msgspec
from syrupy.assertion import SnapshotAssertion

from fakes.compactions import planned, session
from pinfold.commands.compact_text import lines
from pinfold.compaction.plan import CompactionPlan, Planned, PlanSizes
from pinfold.compaction.report import DryRunReport, completion, report_of
from pinfold.rollout.events import PinsChanged
from pinfold.rollout.values import PlanBase


def report(name: str) -> DryRunReport:
    live = session(5, output=60)
    live.add(PinsChanged(add=(12,)))
    view = live.view(8_192)
    return report_of(view, planned(view, name))


def test_report_of_checkpoint(golden: SnapshotAssertion) -> None:
    """Items with verdict, reason and tokens; the inserted text in full; totals."""
    assert "\n".join(lines(report("checkpoint"), verbose=True)).encode() == golden


def test_report_of_prune(golden: SnapshotAssertion) -> None:
    """All items stay; old results are masked, not that of the pinned call."""
    assert "\n".join(lines(report("prune"), verbose=True)).encode() == golden


def test_long_runs_of_one_fate_are_a_line() -> None:
    made = report("prune")
    every = list(lines(made, verbose=True))
    brief = list(lines(made, verbose=False))
    tokens = sum(row.before for row in made.rows if 21 <= row.n <= 27)
    assert f"  #21..#27 kept (7 items, {tokens:,} tokens)" in brief
    assert any("#24 " in line for line in every)
    assert not any("#24 " in line for line in brief)
    assert [line for line in brief if line.startswith("~")] == [
        line for line in every if line.startswith("~")
    ]
    assert made.masked
    assert made.kept + made.masked + made.archived == len(made.rows)


def test_report_as_json(golden: SnapshotAssertion) -> None:
    told = msgspec.json.encode(report("checkpoint"))
    assert msgspec.json.format(told) == golden


def test_the_completion_line_says_what_became_of_the_window() -> None:
    def made(**counts: int) -> CompactionPlan:
        verdicts = [verdict for verdict, count in counts.items() for _ in range(count)]
        return CompactionPlan(
            strategy="checkpoint",
            base=PlanBase(0, 0),
            items=tuple(Planned(n, verdict, "", 1, 0) for n, verdict in enumerate(verdicts)),  # type: ignore[arg-type]
            window=(),
            sizes=PlanSizes(context=2_000, before=40_000, after=9_000, limit=16_000, reserve=2_952),
        )

    line = "Compaction complete: 42k → 11k tokens; kept 12; archived 98; headroom 2,048"
    assert completion(made(keep=10, pin=2, archive=90, replace=7, fold=1)) == line
    assert "kept 12; masked 3; archived 98" in completion(made(keep=12, mask=3, archive=98))

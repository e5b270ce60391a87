"""Recorded sessions: where they are cut, what was needed after, what strategies keep of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest

from fakes.checkpoints import event, file, said, started
from fakes.compactions import working
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.plan_builder import PlanBuilder
from pinfold.compaction.strategy import Material, ModelFree
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.evaluation.evaluate import known
from pinfold.evaluation.recorded import MOST_REAL, SessionCut, cuts_of, names_in
from pinfold.evaluation.recorded_scores import (
    MEASURES,
    OWN,
    Origin,
    Recorded,
    SessionResult,
    StrategyScore,
    StrategyWindow,
    over_all,
)
from pinfold.evaluation.recorded_trials import tried
from pinfold.evaluation.recorded_verdict import verdict
from pinfold.evaluation.report_recorded import report
from pinfold.evaluation.trials import SLACK
from pinfold.rollout.events import Data, Event, ItemAdded, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.values import PlanBase
from pinfold.tokens.counter import Counter

BUDGET = 500
COUNTER = Counter("none")
"""Estimates: quick, and the same everywhere."""
SUMMARY = "Look at beta.py next."
RULE = "Always run the linter before you commit."


def called(n: int, path: str, output: str = "", *, ok: bool = True) -> Iterator[Data]:
    """A file is read, by items `n` and `n + 1`."""
    given = f'{{"path": "{path}"}}'
    call, result = f"c{n}", Item(n=n + 1, kind="tool_result", content=output)
    yield ItemAdded(
        item=Item(n=n, kind="tool_call", content=given, call_id=call, name="read_file", response=n)
    )
    yield ItemAdded(
        item=Item(
            n=n + 1,
            kind="tool_result",
            content=result.content,
            call_id=call,
            response=n,
            detail={"ok": ok},
        )
    )
    yield file(path, "a" * 40, n + 1)


def recording(*, compacted: bool = True) -> list[Event]:
    """Ten items before the cut at 60% of them, after which three files are looked at."""
    replaced = WindowReplaced(
        generation=1,
        base=PlanBase(0, 1),
        reason="adopted",
        window=((90, "full"),),
        inserted=(Item(n=90, kind="summary", content=SUMMARY),),
    )
    data: list[Data] = [
        started("/w"),
        said(1, f"Mend the import. {RULE}"),
        *called(2, "src/app/alpha.py", "filler text here\n" * 60),
        *called(4, "src/app/beta.py", "see also gamma.py\n" * 60),
        *called(6, "src/other.py", "src/other.py:3: TypeError: bad operand", ok=False),
        said(8, "Thanks."),
        *called(9, "docs/notes.md", "nothing"),
        *([replaced] if compacted else []),
        *called(11, "src/app/beta.py", "alpha.py is imported here"),
        *called(13, "src/app/alpha.py", "text"),
        *called(15, "src/never_seen.py", "text"),
    ]
    return [event(seq, written) for seq, written in enumerate(data, 1)]


def cut_of(events: list[Event]) -> SessionCut:
    """The cut at the compaction."""
    return next(cut for cut in cuts_of(events) if cut.compaction is not None)


@dataclass
class Telling(ModelFree):
    """Replaces all but the latest request by a text."""

    text: str
    name: str = "telling"

    def plan(self, view: WindowView, material: Material, options: PlanOptions) -> CompactionPlan:
        builder = PlanBuilder(view)
        for entry in view.entries:
            if entry is not view.latest_request:
                builder.put(entry.n, "replace", "the text stands for it")
        builder.first = Item(n=0, kind="summary", content=self.text)
        return builder.build(self.name)


def kept_by(text: str) -> StrategyWindow:
    """What such a window keeps at the compaction."""
    result = tried("s", "codex", recording(), BUDGET, [(Telling(text), "ours")], COUNTER)
    return next(cut for cut in result.cuts if cut.real).made[0]


def test_a_session_is_cut_before_each_compaction_and_once_in_between() -> None:
    cuts = list(cuts_of(recording()))
    assert [len(cut.items) for cut in cuts] == [9, 10]
    assert [cut.compaction is not None for cut in cuts] == [False, True]


@pytest.mark.parametrize("reason", ["undo", "restore", "kept", "rewind"])
def test_what_is_no_compaction_makes_no_cut(reason: str) -> None:
    replaced = WindowReplaced(generation=1, base=PlanBase(0, 1), reason=reason, window=())
    events = [*recording(compacted=False), event(90, replaced)]
    assert [cut.compaction for cut in cuts_of(events)] == [None]


def test_a_session_of_no_items_is_not_cut() -> None:
    assert list(cuts_of([event(1, started())])) == []


def test_needed_is_what_was_seen_before_and_called_after() -> None:
    cut = cut_of(recording())
    assert cut.needed == {"alpha.py", "beta.py"}
    assert {name.text for name in cut.used} == {"src/app/alpha.py", "src/app/beta.py"}


def test_escapes_are_no_part_of_a_name() -> None:
    text = r"\t\tagentType := x, {\"said\": \"a\\nsession_id\"}"
    item = Item(n=1, kind="tool_call", content=json.dumps({"command": text}))
    assert {name.text for name in names_in(item, "")} == {"agentType", "session_id"}


def test_from_memory_is_what_nothing_has_shown_again() -> None:
    shown = recording()
    shown[-6] = event(99, ItemAdded(item=Item(n=12, kind="user", content="src/app/alpha.py?")))
    assert {name.text for name in cut_of(shown).recalled} == {"src/app/beta.py"}


def test_artifacts_are_known_up_to_the_cut() -> None:
    cut = cut_of(recording())
    assert cut.read == {"src/app/alpha.py", "src/app/beta.py", "src/other.py", "docs/notes.md"}
    assert cut.changed == frozenset()
    assert list(cut.errors.values()) == ["src/other.py:3: TypeError: bad operand"]


def test_a_file_is_held_by_its_name_but_to_the_letter_by_its_path() -> None:
    kept = kept_by("alpha.py and beta.py").kept
    assert (kept["need"], kept["letter"], kept["memory"]) == (1.0, 0.0, 0.0)
    kept = kept_by("src/app/alpha.py").kept
    assert (kept["need"], kept["letter"], kept["read"]) == (0.5, 0.5, 0.25)


def test_each_measure_falls_alone() -> None:
    paths = "src/app/alpha.py src/app/beta.py src/other.py docs/notes.md"
    error = "src/other.py:3: TypeError: bad operand"
    whole = [paths, error, f"Mend the import. {RULE}"]
    everything = kept_by("\n".join(whole)).kept
    assert set(everything.values()) == {1.0}
    assert "changed" not in everything
    assert kept_by("\n".join([paths, whole[2]])).kept == {**everything, "errors": 0.0}
    assert kept_by("\n".join([paths, error, RULE])).kept == {**everything, "words": 0.5}
    without_rule = kept_by("\n".join([paths, error])).kept
    assert without_rule == {**everything, "words": 0.5}


def test_the_recording_tools_own_window_stands_beside_ours_where_there_was_one() -> None:
    result = tried("s", "codex", recording(), BUDGET, known(["checkpoint"]), COUNTER)
    simulated, real = result.cuts
    assert [made.strategy for made in simulated.made] == ["checkpoint"]
    assert [made.strategy for made in real.made] == ["checkpoint", OWN]
    assert real.made[1].kept["need"] == 0.5
    found = over_all(BUDGET, [result], [], SLACK)
    assert [row.strategy for row in found.rows] == ["checkpoint"]
    assert [(row.strategy, row.cuts) for row in found.real] == [("checkpoint", 1), (OWN, 1)]


def test_one_that_fails_is_told_and_nothing_takes_its_place() -> None:
    class Failing(Telling):
        def plan(self, *_: object) -> CompactionPlan:
            raise ZeroDivisionError

    strategies = [(Failing("", "failing"), "ours"), (Telling("alpha.py"), "ours")]
    result = tried("s", "codex", recording(), BUDGET, strategies, COUNTER)  # type: ignore[arg-type]
    failing, telling = result.rows[:2]
    assert (failing.cuts, failing.not_run, failing.kept) == (0, 2, {})
    assert result.cuts[0].made[0].not_run == "ZeroDivisionError"
    assert telling.cuts == 2


def test_where_all_fits_nothing_is_compacted() -> None:
    result = tried("s", "codex", recording(), 100_000, known(["checkpoint"]), COUNTER)
    assert (result.cuts, result.small, result.rows) == ((), 2, ())
    found = over_all(100_000, [result], [], SLACK)
    assert "No window was compacted" in verdict(found)
    assert report(found).sections[0].parts[1].startswith("1 session with nothing to compact")


@pytest.fixture(scope="module")
def long() -> SessionResult:
    events = [
        event(seq, data) for seq, data in enumerate([started("/w"), *working(40, output=60)], 1)
    ]
    able = [pair for pair in known() if not pair[0].needs_model]
    return tried("long", "pinfold", events, 2_000, able, COUNTER)


def test_a_session_with_many_compactions_is_cut_at_some_of_them_that_lie_evenly_apart() -> None:
    replaced = WindowReplaced(generation=1, base=PlanBase(0, 1), reason="adopted", window=())
    data: list[Data] = [started("/w")]
    for turn in range(1, 3 * MOST_REAL):
        data += [said(turn, "Go on."), replaced]
    found = list(cuts_of([event(seq, written) for seq, written in enumerate(data, 1)]))
    real = [len(cut.items) for cut in found if cut.compaction]
    assert len(real) == MOST_REAL
    assert {after - before for before, after in pairwise(real)} == {3}


def row(name: str, origin: Origin, share: float, tokens: int) -> StrategyScore:
    return StrategyScore(name, origin, 1, 0, {"need": share}, tokens, 1.0, 0)


def judged(*rows: StrategyScore) -> str:
    return verdict(Recorded(2_000, (), (), rows, ()))


def test_those_that_are_level_are_named_together() -> None:
    tail = row("tail", "baseline", 0.1, 900)
    told = judged(row("layered", "ours", 0.9, 900), row("checkpoint", "ours", 0.9, 950), tail)
    assert "In 2,000 tokens, layered and checkpoint keep 90% of" in told
    told = judged(row("layered", "ours", 0.899, 900), row("checkpoint", "ours", 0.891, 950), tail)
    assert "layered and checkpoint keep about 90% of" in told
    told = judged(row("layered", "ours", 0.9, 900), row("checkpoint", "ours", 0.8, 950), tail)
    assert "layered keeps 90% of" in told


def test_what_is_over_the_budget_is_not_crowned_and_that_is_said() -> None:
    told = judged(row("prune", "ours", 1.0, 9_000), row("tail", "baseline", 0.1, 900))
    assert "None of our strategies fits 2,000 tokens on average (prune 9,000)" in told


def test_checkpoint_keeps_more_than_a_tail_in_as_many_tokens(long: SessionResult) -> None:
    rows = {row.strategy: row for row in long.rows}
    assert rows["checkpoint"].tokens <= SLACK * 2_000
    assert rows["checkpoint"].mean > rows["tail"].mean + 0.2
    assert rows["checkpoint"].kept["words"] >= 0.5


def test_the_verdict_names_those_that_keep_all(long: SessionResult) -> None:
    found = over_all(2_000, [long], [], SLACK)
    assert "checkpoint and layered keep 100% of" in verdict(found)
    assert all(measure in MEASURES for row in found.rows for measure in row.kept)

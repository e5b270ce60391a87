"""The benchmarks' own parts: a short soak, the sections of RESULTS.md, what counts as a change."""

from pathlib import Path
from random import Random

import pytest
from benchmarks import handoffs, results
from benchmarks.compare import Change
from benchmarks.figures import Figure, table
from benchmarks.soak import checks
from benchmarks.soak.changes import Changes
from benchmarks.soak.log import Log
from benchmarks.soak.run import Soak
from benchmarks.soak.violated import Violated

from pinfold.rollout.events import PinsChanged, WindowReplaced
from pinfold.rollout.journal import ROLLOUT
from pinfold.rollout.values import PlanBase
from pinfold.tokens.counter import Counter

TURNS = 60


@pytest.mark.slow
async def test_a_short_soak_violates_nothing(tmp_path: Path) -> None:
    soak = Soak(tmp_path.resolve(), 1, "none")
    await soak.start()
    for turn in range(TURNS):
        await soak.step(full_disk=turn == TURNS // 2)
    await soak.close()
    assert soak.compactions > TURNS // 4
    assert soak.tally["done"] > TURNS // 2


@pytest.fixture
async def worked(tmp_path: Path) -> Soak:
    """A few turns of a session."""
    soak = Soak(tmp_path.resolve(), 1, "none")
    await soak.start()
    for _ in range(4):
        await soak.step()
    return soak


async def test_a_damaged_journal_is_a_violation(worked: Soak) -> None:
    path = worked.session.folder / ROLLOUT
    lines = path.read_bytes().splitlines(keepends=True)
    lines[-2] = b"?" * (len(lines[-2]) - 1) + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(Violated, match="damaged"):
        Log(worked.session.folder).read_on(worked.session)


async def test_state_that_is_not_from_the_journal_is_a_violation(worked: Soak) -> None:
    checks.check_rebuilt(worked.session, worked.counter)
    worked.session._record.window.pins.step(PinsChanged(add=(1,)))
    with pytest.raises(Violated, match="the pins"):
        checks.check_rebuilt(worked.session, worked.counter)


async def test_a_wrong_gauge_is_a_violation(worked: Soak) -> None:
    checks.check_gauge(worked.session, worked.counter)
    worked.session._record.gauge.tokens[0] += 1
    with pytest.raises(Violated, match="gauge"):
        checks.check_gauge(worked.session, worked.counter)


async def test_a_window_that_cannot_be_exported_is_a_violation(worked: Soak) -> None:
    await worked.session.compact("checkpoint")
    worked.session._record.window.boundaries.clear()
    with pytest.raises(Violated, match="can't be exported"):
        Log(worked.session.folder).read_on(worked.session)


async def test_a_compaction_that_drops_a_pin_is_a_violation(worked: Soak) -> None:
    record = worked.session._record
    first = next(iter(record.window.forms))
    await record.append(PinsChanged(add=(first,)))
    rest = tuple((n, form) for n, form in record.window.forms.items() if n != first)
    base = PlanBase(record.window.generation, record.window.seq)
    replaced = WindowReplaced(
        generation=base.generation + 1, base=base, reason="manual", window=rest
    )
    changes = Changes(record.window)
    (event,) = await record.append(replaced)
    with pytest.raises(Violated, match="pinned"):
        changes.hear(event, "", ())


async def test_a_pin_that_is_not_taken_back_is_a_violation(worked: Soak) -> None:
    record = worked.session._record
    changes = Changes(record.window)
    (event,) = await record.append(PinsChanged(add=("no/such/**",)))
    changes.hear(event, "", ())
    (undone,) = await record.append(PinsChanged(undoes=event.seq))
    with pytest.raises(Violated, match="other pins"):
        changes.hear(undone, "", ())


async def test_an_item_that_reads_otherwise_later_is_a_violation(worked: Soak) -> None:
    log = Log(worked.session.folder)
    log.read_on(worked.session)
    log.check_recalled(worked.session, Random(1))
    log._digests[:] = bytes(len(log._digests))
    with pytest.raises(Violated, match="is not what it was"):
        log.check_recalled(worked.session, Random(1))


def test_a_section_takes_the_place_of_its_old_self(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    results.write("# Results\n\nCommit 1.", {"Start.": "one", "Soak.": "two"}, path=path)
    results.write_section("Soak.", "three", path=path)
    results.write("# Results\n\nCommit 2.", {"Start.": "four"}, keep=["Soak."], path=path)
    head, _, rest = path.read_text().partition("## Targets")
    assert head == "# Results\n\nCommit 2.\n\n"
    assert rest.partition("## ")[2] == "Start.\n\nfour\n\n## Soak.\n\nthree\n"


def test_the_targets_that_are_missed_stand_first(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    figures = [
        Figure("a paint", 3, "ms", 1, "a bare one", target=2),
        Figure("a stall", 70, "ms", target=50),
        Figure("a key", 3, "ms", target=15),
        Figure("a size", 3, "MiB"),
    ]
    results.write("# Results", {"Start: a paint.": table(figures)}, path=path)
    told = path.read_text().partition("## Targets\n\n")[2].partition("\n\n## ")[0]
    assert told.splitlines() == [
        "1 are met, 2 are missed:",
        "",
        "- a paint: 3×, target ≤ 2× (Start)",
        "- a stall: 70 ms, target ≤ 50 ms (Start)",
    ]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([10, 11, 10], [20, 22, 21], "more"),
        ([10, 11, 10], [5, 6, 5], "less"),
        ([10, 14, 10], [13, 15, 16], "noise"),
        ([100, 100, 100], [101, 101, 101], "noise"),
        ([0, 0, 0], [1, 1, 1], "more"),
    ],
)
def test_a_change_is_one_beyond_the_noise(
    before: list[float], after: list[float], verdict: str
) -> None:
    assert Change("", "ms", before, after).verdict == verdict


async def test_handoffs_are_asked_for_in_files_once_while_the_windows_are_the_same(
    tmp_path: Path,
) -> None:
    asked: list[int] = []
    for _ in range(handoffs.COMPACTIONS):
        _, waiting = await handoffs.tried(tmp_path, "deps-review", 1, Counter("none"))
        asked.append(len(waiting))
        for name in waiting:
            record = (tmp_path / "requests" / name).read_text("utf-8")
            assert "Write at most 374 words." in record
            (tmp_path / "answers" / name).write_text("Nothing is known.", "utf-8")
    assert asked == [1, 2, 2]
    (bare, core), waiting = await handoffs.tried(tmp_path, "deps-review", 1, Counter("none"))
    assert not waiting
    assert [len(handoff.points) for handoff in (bare, core)] == [4, 4]
    assert core.points[-1].read["constraints"] == 1.0 > bare.points[-1].read["constraints"]

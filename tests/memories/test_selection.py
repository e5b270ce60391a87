"""What consolidation reads, against the rule said in other words."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.memories.records import Extracted, SessionCandidate
from pinfold.memories.state import MemoriesState

TODAY = datetime(2026, 3, 1, tzinfo=UTC)
DAY = 86_400.0
ROWS = st.lists(
    st.tuples(
        st.integers(0, 70),  # days since it was made
        st.none() | st.integers(0, 70),  # days since its last use
        st.integers(0, 3),  # uses
    ),
    max_size=12,
)


class Clock:
    at = TODAY

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> Iterator[MemoriesState]:
    opened = MemoriesState(tmp_path_factory.mktemp("home"), clock)
    yield opened
    opened.close()


@given(rows=ROWS, limit=st.integers(1, 8), most=st.sampled_from([1, 30, 60]))
@settings(max_examples=15, deadline=None)
def test_selection(
    state: MemoriesState,
    clock: Clock,
    rows: list[tuple[int, int | None, int]],
    limit: int,
    most: int,
) -> None:
    state.clear()
    usage: dict[str, tuple[int, float | None]] = {}
    every = [SessionCandidate(f"s{n}", "/r", "/w", 1.0) for n in range(len(rows))]
    claims = state.claim_sessions(every, len(rows))
    for candidate, claim, (made, used, count) in zip(every, claims, rows, strict=True):
        clock.at = TODAY - timedelta(days=made)
        state.finish_extracted(claim, candidate, Extracted("raw", "summary"))
        usage[candidate.session] = count, used if used is None else TODAY.timestamp() - used * DAY
    clock.at = TODAY
    state.set_usage(usage)
    chosen = [row.session_id for row in state.selection(limit, most)]
    pruned = state.prune(most)
    left = {row.session_id for row in state.outputs()}

    ages = {f"s{n}": made if used is None else used for n, (made, used, _) in enumerate(rows)}
    eligible = {session for session, age in ages.items() if age <= most}
    assert left == eligible  # what may be selected is never pruned, all else is
    assert pruned == len(rows) - len(eligible)
    assert set(chosen) <= eligible
    assert len(chosen) == len(set(chosen)) == min(limit, len(eligible))

    def rank(session: str) -> tuple[int, int]:
        return -usage[session][0], ages[session]

    assert [rank(session) for session in chosen] == sorted(map(rank, chosen))
    for left_out in eligible - set(chosen):
        assert all(rank(session) <= rank(left_out) for session in chosen)

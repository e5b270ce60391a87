"""What consolidation reads, against the rule said in other words."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.memories.records import Candidate, Extracted
from pinfold.memories.state import State

DAY = 86_400.0
ROWS = st.lists(
    st.tuples(
        st.integers(0, 70),  # days since it was made
        st.none() | st.integers(0, 70),  # days since its last use
        st.integers(0, 3),  # uses
    ),
    max_size=12,
)


@given(ROWS, st.integers(1, 8), st.sampled_from([1, 30, 60]))
@settings(max_examples=60, deadline=None)
def test_selection(rows: list[tuple[int, int | None, int]], limit: int, most: int) -> None:
    today = datetime(2026, 3, 1, tzinfo=UTC)
    now = today
    usage: dict[str, tuple[int, float | None]] = {}
    with TemporaryDirectory() as folder:
        state = State(Path(folder), lambda: now)
        for n, (made, used, count) in enumerate(rows):
            now = today - timedelta(days=made)
            each = Candidate(f"s{n}", "/r", "/w", 1.0)
            (claim,) = state.claim_sessions([each], 1)
            state.finish_extracted(claim, each, Extracted("raw", "summary"))
            usage[each.session] = count, used if used is None else today.timestamp() - used * DAY
        now = today
        state.set_usage(usage)
        chosen = [row.session_id for row in state.selection(limit, most)]
        pruned = state.prune(most)
        left = {row.session_id for row in state.outputs()}
        state.close()

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

"""A fork can begin in any window that the session has had."""

from pathlib import Path

import pytest

from fakes.sessions import item, ticking
from pinfold.agent.state import State
from pinfold.agent.turn.reopening import found_as
from pinfold.compaction.restore import restore_of
from pinfold.rollout.events import TurnStarted, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal, JournalError
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import PlanBase
from pinfold.window.generations import generations, standing
from pinfold.window.refused import Refused
from pinfold.window.window import Window


def replaced(generation: int, *stay: int, inserted: tuple[Item, ...] = ()) -> WindowReplaced:
    return WindowReplaced(
        generation=generation,
        base=PlanBase(generation - 1, 1),
        reason="manual",
        window=tuple((n, "full") for n in (*stay, *(shown_item.n for shown_item in inserted))),
        inserted=inserted,
    )


def folded(journal: Journal) -> Window:
    window = Window()
    for event in journal.read():
        window.step(event)
    return window


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home")


@pytest.fixture
def parent(store: SessionStore) -> Path:
    """#1 and #2; only #2 and a summary, #3; #4; only #4; #5."""
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(
            item(1, content="one"),
            item(2, content="two"),
            replaced(1, 2, inserted=(Item(n=3, kind="summary", content="one"),)),
            TurnStarted(turn=1),
            item(4, content="four"),
            replaced(2, 4),
            item(5, content="five"),
        )
    return journal.folder


@pytest.mark.parametrize(
    ("generation", "stands", "last"), [(0, [1, 2], 2), (1, [2, 3, 4], 4), (2, [4, 5], 5)]
)
def test_its_window_is_the_one_that_was(
    store: SessionStore, parent: Path, generation: int, stands: list[int], last: int
) -> None:
    before = (parent / "rollout.jsonl").read_bytes()
    with store.fork_window(parent, generation, ticking()) as fork:
        window = folded(fork)
        assert list(window.forms) == stands
        assert window.generation == 0
        assert [past.generation for past in generations(window)] == list(range(-generation, 1))
        assert fork.started.forked_from == f"{parent.name}:{last}"
    assert (parent / "rollout.jsonl").read_bytes() == before


def test_a_fork_of_a_fork_counts_from_its_own_window(store: SessionStore, parent: Path) -> None:
    fork, _ = store.fork(parent, None, ticking())
    with fork:
        fork.append(replaced(1, 5))
    with store.fork_window(fork.folder, -1, ticking()) as earlier:
        window = folded(earlier)
    assert (window.generation, list(window.forms)) == (0, [2, 3, 4])
    again, _ = store.fork(fork.folder, None, ticking())
    with again:
        window = folded(again)
    assert [generation.generation for generation in generations(window)] == [-3, -2, -1, 0]
    assert [entry.n for entry in standing(window, -3)] == [1, 2]
    assert [n for n, _ in restore_of(window, -2).window] == [2, 3, 4, 5]
    with pytest.raises(Refused, match="There is no window -4: there are -3 to 0"):
        standing(window, -4)
    with pytest.raises(Refused, match="There is no earlier window -4"):
        restore_of(window, -4)


def test_what_this_version_does_not_know_of_a_window_is_copied(
    store: SessionStore, parent: Path
) -> None:
    line = (
        b'{"seq":9,"ts":"2030-01-01T00:00:00Z","type":"window_replaced","data":{"generation":3,'
        b'"base":{"generation":2,"seq":8},"reason":"dreamt","window":[[5,"full"]],"mood":"blue"}}'
    )
    with (parent / "rollout.jsonl").open("ab") as file:
        file.write(line + b"\n")
    fork, _ = store.fork(parent, None, ticking())
    with fork:
        copied = list(fork.lines())[-1]
    expected = line.replace(b'"generation":3', b'"generation":0')
    assert copied == expected.replace(b'"generation":2', b'"generation":-1')


def test_a_turn_that_the_fork_cuts_off_has_ended_there(store: SessionStore, parent: Path) -> None:
    state = State()
    with store.fork_window(parent, 1, ticking()) as fork:
        for event in fork.read():
            state.step(event)
    assert [event.seq for event in fork.read()] == list(range(1, 8))
    assert found_as(state, read_only=False) == ("The last turn was interrupted: forked here.",)


def test_a_window_that_never_was_is_told_and_leaves_nothing(
    store: SessionStore, parent: Path
) -> None:
    with pytest.raises(JournalError, match="There is no window 3 in this session"):
        store.fork_window(parent, 3, ticking())
    with Journal.open(parent, ticking(), read_only=True):
        assert len(store.list()) == 1

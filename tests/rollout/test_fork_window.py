"""A fork can begin in any window that the session has had."""

from pathlib import Path

import pytest

from fakes.sessions import item, ticking
from pinfold.agent.found import found_as
from pinfold.agent.state import State
from pinfold.rollout.events import Base, TurnStarted, WindowReplaced
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal, JournalError
from pinfold.rollout.store import SessionStore
from pinfold.window.window import Window


def replaced(generation: int, *stay: int, inserted: tuple[Item, ...] = ()) -> WindowReplaced:
    return WindowReplaced(
        generation=generation,
        base=Base(generation - 1, 1),
        reason="manual",
        window=tuple((n, "full") for n in (*stay, *(each.n for each in inserted))),
        inserted=inserted,
    )


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
        window = Window()
        for event in fork.read():
            window.step(event)
        assert list(window.forms) == stands
        assert window.generation == generation
        assert fork.started.forked_from == f"{parent.name}:{last}"
        lines = list(fork.lines())[1:-1] if generation == 1 else list(fork.lines())[1:]
        assert lines == before.splitlines()[1 : len(lines) + 1]
    assert (parent / "rollout.jsonl").read_bytes() == before


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

"""A fork is the parent's beginning, whole responses only."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from fakes.sessions import item, ticking
from pinfold.agent.state import State
from pinfold.rollout.events import (
    SCHEMA,
    ArtifactObserved,
    ItemAdded,
    ItemsMarked,
    PinsChanged,
    PromptQueued,
    PromptUnqueued,
    RequestFinished,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    WindowReplaced,
)
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal, JournalError
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import PlanBase
from pinfold.window.window import Window

UNKNOWN = b'{"seq": 11, "ts":"2030-01-01T00:00:00Z","type":"dreamt", "data":{}}\n'
OBSERVED = ArtifactObserved(uri="a", kind="file", op="read")
FINISHED = RequestFinished(
    purpose="turn",
    provider="p",
    model="m",
    response=1,
    through_seq=3,
    estimate=1,
    status="ok",
)


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home")


@pytest.fixture
def parent(store: SessionStore) -> Path:
    """#1 prompt, #2 to #4 one response with a call, #5 a second response, #6 the next prompt."""
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(
            TurnStarted(turn=1),
            item(1, content="prompt"),
            item(2, "assistant", response=1),
            item(3, "tool_call", response=1, call_id="c"),
            FINISHED,
            item(4, "tool_result", response=1, call_id="c"),
            OBSERVED,
            item(5, "assistant", response=2),
            TurnFinished(turn=1, state="done"),
        )
        with journal.path.open("ab") as file:
            file.write(UNKNOWN)
    with Journal.open(journal.folder, ticking()) as journal:
        journal.append(TurnStarted(turn=2), item(6, content="next"))
    return journal.folder


def unnumbered(lines: Iterable[bytes]) -> list[bytes]:
    """Lines without the numbers of windows, which are a fork's own."""
    return [re.sub(rb'"generation":-?\d+', b"", line) for line in lines]


def items(journal: Journal) -> list[int]:
    return [event.data.item.n for event in journal.read() if isinstance(event.data, ItemAdded)]


@pytest.mark.parametrize(
    ("at", "n", "lines"),
    [
        (None, 6, 13),
        (6, 6, 13),
        (5, 5, 10),  # with the end of its turn, without what came later
        (4, 4, 9),  # with what its tool was seen to do, and the end of its turn
        (3, 1, 4),
        (2, 1, 4),
        (1, 1, 4),
    ],
)
def test_a_fork_holds_the_parents_lines_through_whole_responses(
    store: SessionStore, parent: Path, at: int | None, n: int, lines: int
) -> None:
    before = (parent / "rollout.jsonl").read_bytes()
    fork, last = store.fork(parent, at, ticking())
    with fork:
        assert last == n
        assert items(fork) == list(range(1, n + 1))
        copied = lines - (n < 5)  # one more line ends the turn
        assert list(fork.lines())[1:copied] == before.splitlines()[1:copied]
        started = fork.started
        assert started.id == fork.folder.name != parent.name
        assert started.forked_from == f"{parent.name}:{n}"
        assert (started.cwd, started.schema) == ("/w", SCHEMA)
        assert fork.append(TurnStarted(turn=9))[0].seq == lines + 1
    assert (parent / "rollout.jsonl").read_bytes() == before


def test_a_session_that_another_process_holds_can_be_forked(
    store: SessionStore, parent: Path
) -> None:
    with Journal.open(parent, ticking()):
        fork, _ = store.fork(parent, None, ticking())
        fork.close()


def test_a_fork_takes_outputs_and_backups_along(store: SessionStore, parent: Path) -> None:
    for name in ("blobs", "outputs"):
        (parent / name).mkdir()
        (parent / name / "x").write_text(name)
    fork, _ = store.fork(parent, 1, ticking())
    with fork:
        assert (fork.folder / "blobs/x").read_text() == "blobs"
        assert (fork.folder / "outputs/x").read_text() == "outputs"


def test_an_item_that_is_not_there_is_told(store: SessionStore, parent: Path) -> None:
    with pytest.raises(JournalError, match="no item #77"):
        store.fork(parent, 77, ticking())
    assert len(store.list()) == 1


def test_a_session_without_items_forks_to_one_without(store: SessionStore) -> None:
    store.create(Path("/w"), "0", ticking()).close()
    fork, n = store.fork(store.list()[0].folder, None, ticking())
    with fork:
        assert n == 0
        assert [type(event.data) for event in fork.read()] == [SessionStarted]


# Rewinding


@pytest.fixture
def long(store: SessionStore) -> Path:
    """Three prompts, #1, #4 and #8; a pin, a mark, a compaction and a queued prompt between."""
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(
            TurnStarted(turn=1),
            item(1, content="first"),
            item(2, "assistant", response=1),
            PromptQueued(id=1, text="third"),
            TurnFinished(turn=1, state="done"),
            PinsChanged(add=(2,)),
            ItemsMarked(items=((1, "placeholder"),)),
            WindowReplaced(
                generation=1,
                base=PlanBase(0, 7),
                reason="manual",
                window=((2, "full"), (3, "full")),
                inserted=(Item(n=3, kind="summary", content="so far"),),
            ),
            TurnStarted(turn=2),
            item(4, content="second"),
            item(5, "assistant", response=2),
            TurnFinished(turn=2, state="waiting", reason="paused after 50 steps"),
            ItemsMarked(items=((4, "placeholder"),)),
            WindowReplaced(
                generation=2, base=PlanBase(1, 14), reason="manual", window=((5, "full"),)
            ),
            PromptUnqueued(id=1, reason="sent"),
            TurnStarted(turn=3),
            item(8, content="third"),
            item(9, "assistant", response=3),
        )
    return journal.folder


@pytest.mark.parametrize(
    ("prompt", "lines", "forms", "queue"),
    [
        (1, 1, {}, {}),
        (4, 9, {2: "full", 3: "full"}, {1: "third"}),
        (8, 16, {5: "full"}, {}),
    ],
)
def test_a_rewind_ends_right_before_a_prompt_with_the_window_of_then(
    store: SessionStore,
    long: Path,
    prompt: int,
    lines: int,
    forms: dict[int, str],
    queue: dict[int, str],
) -> None:
    before = (long / "rollout.jsonl").read_bytes()
    state, window = State(), Window()
    with store.rewind(long, prompt, ticking()) as fork:
        assert unnumbered(fork.lines())[1:] == unnumbered(before.splitlines())[1:lines]
        for event in fork.read():
            state.step(event)
            window.step(event)
    assert (window.generation, window.forms) == (0, forms)
    assert window.is_pinned(2) == (prompt == 4)
    assert {n: queued.text for n, queued in state.queue.items()} == queue
    assert not state.turn_open
    assert state.turn_state == {1: "", 4: "done", 8: "waiting"}[prompt]
    assert fork.started.forked_from == f"{long.name}:{ {1: 0, 4: 3, 8: 5}[prompt] }"
    assert (long / "rollout.jsonl").read_bytes() == before


@pytest.mark.parametrize(("n", "said"), [(2, "not one of your prompts"), (77, "no prompt #77")])
def test_only_prompts_can_be_rewound_to(store: SessionStore, long: Path, n: int, said: str) -> None:
    with pytest.raises(JournalError, match=said):
        store.rewind(long, n, ticking())
    assert len(store.list()) == 1


def test_what_a_compaction_brought_can_be_forked_from(store: SessionStore, parent: Path) -> None:
    summary = Item(n=7, kind="summary", content="So far.")
    replaced = WindowReplaced(
        generation=1,
        base=PlanBase(0, 1),
        reason="manual",
        window=((7, "full"),),
        inserted=(summary,),
    )
    with Journal.open(parent, ticking()) as journal:
        journal.append(replaced, item(8))
    fork, n = store.fork(parent, 7, ticking())
    with fork:
        assert n == 7
        made = [event.data for event in fork.read()][-2]
        assert isinstance(made, WindowReplaced)
        assert (made.window, made.inserted) == (replaced.window, replaced.inserted)

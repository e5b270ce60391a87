"""Finding, listing and copying sessions."""

import os
from pathlib import Path

import pytest

from fakes.sessions import item, ticking
from pinfold.rollout.events import ModelChanged, RequestFinished, TurnStarted
from pinfold.rollout.journal import Journal, JournalError
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import Usage


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home")


def begun(store: SessionStore, prompt: str, age: int, cwd: str = "/w") -> Path:
    """A session with a prompt, last used `age` seconds ago."""
    with store.create(Path(cwd), "0", ticking()) as journal:
        if prompt:
            journal.append(TurnStarted(turn=1), item(1, content=prompt))
    used = 2_000_000_000 - age
    os.utime(journal.path, (used, used))
    return journal.folder


def request(estimate: int, usage: Usage | None) -> RequestFinished:
    return RequestFinished(
        purpose="turn",
        provider="p",
        model="m",
        response=1,
        through_seq=1,
        estimate=estimate,
        status="ok",
        usage=usage,
    )


def test_a_session_lies_under_its_date(store: SessionStore, tmp_path: Path) -> None:
    folder = begun(store, "hello", 0)
    assert folder.parent == tmp_path / "home/sessions/2026/03/01"
    assert len(folder.name) == 36


def test_the_list_says_what_each_session_was_about(store: SessionStore) -> None:
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(
            ModelChanged(
                provider="p", model="gpt", context_window=1, window_source="table", reason="r"
            ),
            TurnStarted(turn=1),
            item(1, content="\n  Mend\tthe \x1b[31mroof  \nand the door"),
            request(900, Usage(input=1_000)),
            TurnStarted(turn=2),
            item(2, content="y" * 100),
            request(1_500, None),
        )
    (summary,) = store.list()
    assert summary.title == "Mend the  [31mroof"
    assert (summary.model, summary.turns, summary.tokens) == ("gpt", 2, 1_500)
    assert (summary.id, summary.folder, summary.cwd) == (journal.folder.name, journal.folder, "/w")
    assert summary.size == journal.path.stat().st_size
    assert summary.note == ""
    begun(store, "y" * 100, 0)
    assert "y" * 79 + "…" in {summary.title for summary in store.list()}


def test_the_list_begins_with_the_session_last_used(store: SessionStore) -> None:
    old, new = begun(store, "old", 50), begun(store, "new", 10)
    middle = begun(store, "middle", 30)
    assert [summary.folder for summary in store.list()] == [new, middle, old]
    assert [summary.folder for summary in store.list(limit=2)] == [new, middle]
    with Journal.open(old, ticking()) as journal:
        os.utime(journal.path, (2_000_000_000, 2_000_000_000))
    assert store.list()[0].folder == old


def test_damaged_sessions_are_listed_with_a_note(store: SessionStore) -> None:
    torn, garbled, lost = (begun(store, name, 0) for name in ("torn", "garbled", "lost"))
    begun(store, "sound", 0)
    with (torn / "rollout.jsonl").open("ab") as file:
        file.write(b'{"seq":')
    with (garbled / "rollout.jsonl").open("ab") as file:
        file.write(b'oops\n{"seq":9,"ts":"2026-01-01T00:00:00Z","type":"x"}\n')
    (lost / "rollout.jsonl").write_bytes(b"\0" * 100)
    (begun(store, "gone", 0) / "rollout.jsonl").unlink()
    (begun(store, "empty", 0) / "rollout.jsonl").write_bytes(b"")
    notes = {summary.folder: summary.note for summary in store.list()}
    assert len(notes) == 4
    assert notes[torn] == "its last line is cut off"
    assert notes[garbled] == "some lines can't be read"
    assert "holds no session" in notes[lost]


def test_nothing_there_is_an_empty_list(store: SessionStore) -> None:
    assert list(store.list()) == []
    with pytest.raises(JournalError, match="no earlier session"):
        store.last()


def test_a_session_is_found_by_the_start_of_its_id(store: SessionStore) -> None:
    folders = [begun(store, str(n), n) for n in range(7)]
    assert store.find(folders[3].name) == folders[3]
    with pytest.raises(JournalError, match="no session whose id begins with “zz”"):
        store.find("zz")
    with pytest.raises(JournalError) as ambiguous:
        store.find("0")
    assert folders[0].name in str(ambiguous.value)
    assert "and 2 more" in str(ambiguous.value)


def test_the_last_session_is_one_that_was_used(store: SessionStore) -> None:
    here, there = begun(store, "here", 20, "/here"), begun(store, "there", 10, "/there")
    begun(store, "", 0, "/here")
    assert store.last() == there
    assert store.last(Path("/here")) == here
    with pytest.raises(JournalError, match="in /elsewhere"):
        store.last(Path("/elsewhere"))


def test_the_lines_are_the_rollout_byte_for_byte(store: SessionStore) -> None:
    folder = begun(store, "hello", 0)
    strange = (
        b'{"type": "dreamt", "seq": 4, "ts": "2030-01-01T00:00:00Z", "data": {"of": 1.0e2}}\n'
        b'{"seq":5,"ts":"2030-01-01T00:00:00Z","type":"turn_started","data":{"turn":2,"new":[]},"z":1}\n'
    )
    with (folder / "rollout.jsonl").open("ab") as file:
        file.write(strange)
    with Journal.open(folder, ticking()) as journal:
        journal.append(item(2))
    sound = (folder / "rollout.jsonl").read_bytes()
    assert strange in sound
    with (folder / "rollout.jsonl").open("ab") as file:
        file.write(b'{"torn')
    with Journal.open(folder, ticking(), read_only=True) as journal:
        lines = list(journal.lines())
    assert b"".join(line + b"\n" for line in lines) == sound

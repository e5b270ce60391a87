"""What was said in sessions is found again."""

import sqlite3
from pathlib import Path

import pytest

from fakes.sessions import item, ticking
from pinfold.rollout.events import TurnStarted
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.rollout.texts import MATCH, MATCH_END, MAX_MESSAGE, Exchange, Texts


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> SessionStore:
    return SessionStore(home)


def said(store: SessionStore, *texts: str) -> Path:
    """A session of prompts and replies, in turns."""
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(TurnStarted(turn=1))
        for n, text in enumerate(texts, 1):
            journal.append(item(n, "user" if n % 2 else "assistant", text))
        journal.append(item(len(texts) + 1, "tool_result", "a tool's own words"))
    return journal.folder


def filled(home: Path, *folders: Path) -> Texts:
    texts = Texts(home)
    list(texts.fill(folders))
    return texts


def test_sessions_are_found_by_the_beginnings_of_words_in_prompts_and_replies(
    store: SessionStore, home: Path
) -> None:
    roof = said(store, "Mend the roof", "It needs 12 slates, and Düngung.")
    door = said(store, "Mend the door", "Oil the hinges.")
    texts = filled(home, roof, door)
    assert set(texts.search("mend")) == {roof.name, door.name}
    assert set(texts.search("SLAT roo")) == {roof.name}
    assert set(texts.search("dungung")) == {roof.name}
    assert texts.search("slates hinges") == {}
    assert texts.search("own words") == {}
    assert f"the {MATCH}hinges{MATCH_END}" in texts.search("hinges")[door.name]


@pytest.mark.parametrize("query", ["", "  ", '"', "* -- ()", 'roof" OR "door', "NEAR(", "a:b"])
def test_what_is_typed_is_words_and_no_query_language(
    store: SessionStore, home: Path, query: str
) -> None:
    folder = said(store, "Mend the roof", "Done.")
    assert filled(home, folder).search(query) == {}


def test_the_last_exchange_is_at_hand(store: SessionStore, home: Path) -> None:
    folder = said(store, "one", "two", "three", "x" * 9_000)
    texts = Texts(home)
    assert texts.exchange(folder) is None
    list(texts.fill([folder]))
    assert texts.exchange(folder) == Exchange("three", "x" * MAX_MESSAGE)


def test_only_what_changed_is_read_again_and_what_is_gone_goes(
    store: SessionStore, home: Path
) -> None:
    first, second = said(store, "alpha", "beta"), said(store, "gamma", "delta")
    texts = filled(home, first, second)
    assert list(texts.fill([first, second])) == []
    with Journal.open(second, ticking()) as journal:
        journal.append(item(9, content="epsilon"))
    assert list(texts.fill([first, second])) == [1]
    assert set(texts.search("epsilon")) == {second.name}
    assert set(texts.search("gamma")) == {second.name}
    list(texts.fill([second]))
    assert texts.search("alpha") == {}
    assert texts.exchange(first) is None


def test_without_a_sound_database_nothing_is_found(store: SessionStore, home: Path) -> None:
    folder = said(store, "alpha", "beta")
    (home / "state.db").write_bytes(b"not a database" * 500)
    texts = filled(home, folder)
    assert texts.search("alpha") == {}
    assert texts.exchange(folder) is None


def test_the_list_of_sessions_and_their_texts_share_a_database(
    store: SessionStore, home: Path
) -> None:
    folder = said(store, "alpha", "beta")
    assert store.list()[0].title == "alpha"
    assert filled(home, folder).search("alpha")
    with sqlite3.connect(home / "state.db") as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    assert {"sessions", "texts", "texts_of"} <= tables

"""What was said in sessions is listed and found again."""

import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.sessions import item, ticking
from pinfold.catalog import searching
from pinfold.catalog.catalog import Catalog, LastExchange
from pinfold.catalog.reading import SPOKEN
from pinfold.catalog.sqlite import SECURE
from pinfold.rollout import disk
from pinfold.rollout.events import SCHEMA, ChildStarted, SessionStarted, TurnStarted
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> SessionStore:
    return SessionStore(home)


@pytest.fixture
def catalog(home: Path) -> Catalog:
    return Catalog(home, home / "cache/catalog.db")


def said(
    store: SessionStore, *texts: str, cwd: str = "/w", now: Callable[[], datetime] | None = None
) -> Path:
    """A session of prompts and replies, in turns."""
    with store.create(Path(cwd), "0", now or ticking()) as journal:
        journal.append(TurnStarted(turn=1))
        for n, text in enumerate(texts, 1):
            journal.append(item(n, "user" if n % 2 else "assistant", text))
    return journal.folder


def fill(catalog: Catalog) -> None:
    list(catalog.fill())


def found(catalog: Catalog, query: str) -> list[tuple[str, str]]:
    """The sessions and the numbers of items, best first."""
    return [(hit.session, hit.number) for hit in catalog.search(query, 20, NOW).hits]


def test_items_are_found_by_words_and_the_beginning_of_the_last(
    store: SessionStore, catalog: Catalog
) -> None:
    roof = said(store, "Mend the roof", "It needs 12 slates, and Düngung.")
    door = said(store, "Mend the door", "Oil the hinges of parse_config.")
    fill(catalog)
    assert {*found(catalog, "mend")} == {(roof.name, "#1"), (door.name, "#1")}
    assert found(catalog, "12 SLAT") == [(roof.name, "#2")]
    assert found(catalog, "dungung") == [(roof.name, "#2")]
    assert found(catalog, "config") == [(door.name, "#2")]
    assert found(catalog, "slates hinges") == []
    (hit,) = catalog.search("hinges", 20, NOW).hits
    assert f"the {searching.MATCH}hinges{searching.MATCH_END}" in hit.piece
    assert (hit.title, hit.cwd) == ("Mend the door", "/w")


def test_words_of_scripts_without_spaces_are_found_within_others(
    store: SessionStore, catalog: Catalog
) -> None:
    folder = said(store, "設定ファイルを読み込む")
    fill(catalog)
    assert found(catalog, "ファイル") == [(folder.name, "#1")]
    assert found(catalog, "ルファイ") == []
    assert "を読み込む" in catalog.search("設定", 20, NOW).hits[0].piece.replace("\x03", "")


def test_what_is_typed_is_words_and_no_query_language(
    store: SessionStore, catalog: Catalog
) -> None:
    said(store, "Mend the roof", "Done.")
    fill(catalog)
    plain = ["", "  ", '"', "* -- ()", "NEAR(", "a:b", "\0\ud800", "😀"]
    for query in [*plain, 'roof" OR "door', "text:roof^ {"]:
        assert found(catalog, query) == []


def test_calls_and_outputs_are_found_and_agents_under_their_parent(
    store: SessionStore, catalog: Catalog
) -> None:
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(item(1, content="Look around"))
        journal.append(item(2, "tool_call", '{"command": "grep\\nneedle"}'))
        journal.append(item(3, "tool_result", "in the haystack"))
        journal.append(
            ChildStarted(child=3, session="c-1", agent="explore", description="", call_id="x")
        )
        started = SessionStarted(schema=SCHEMA, id="c-1", cwd="/w", version="0", source="agent")
        with Journal.create(journal.folder / "agents/c-1", started, ticking()) as child:
            child.append(item(12, content="Find the thimble"))
            fill(catalog)
            child.append(item(13, "assistant", "The thimble is lost"))
        journal.append(item(4, "assistant", "Done."))
    fill(catalog)
    name = journal.folder.name
    assert found(catalog, "needle") == [(name, "#2")]
    assert found(catalog, "haystack") == [(name, "#3")]
    assert found(catalog, "thimble") == [(name, "a3#12"), (name, "a3#13")]
    assert [line.id for line in catalog.list(9)] == [name]
    disk.delete(journal.folder, ticking())
    catalog.forget(journal.folder)
    assert found(catalog, "thimble") == []


@pytest.mark.parametrize(
    ("n", "child", "session"), [(2**63, 1, "c-1"), (2, 2**63, "c-1"), (2, 1, "..")]
)
def test_a_hostile_session_keeps_no_other_from_being_found(
    store: SessionStore, catalog: Catalog, n: int, child: int, session: str
) -> None:
    good = said(store, "alpha")
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(item(1, content="beta"))
        journal.append(item(n, content="gamma"))
        journal.append(
            ChildStarted(child=child, session=session, agent="", description="", call_id="x")
        )
        started = SessionStarted(schema=SCHEMA, id="c-1", cwd="/w", version="0", source="agent")
        Journal.create(journal.folder / "agents/c-1", started, ticking()).close()
    fill(catalog)
    assert found(catalog, "alpha") == [(good.name, "#1")]
    assert found(catalog, "beta") == [(journal.folder.name, "#1")]
    assert catalog.search("beta", 9, NOW).unread == 0


def test_only_what_was_added_is_read_and_what_is_gone_goes(
    store: SessionStore, catalog: Catalog
) -> None:
    first, second = said(store, "alpha", "beta"), said(store, "gamma", "delta")
    fill(catalog)
    assert catalog.exchange(second.name) == LastExchange("gamma", "delta")
    with Journal.open(second, ticking()) as journal:
        journal.append(item(9, content="epsilon"))
    with journal.path.open("ab") as file:
        file.write(b'{"seq": 99, "half": ')
    assert catalog.search("epsilon", 9, NOW).unread == 0  # nobody has looked
    fill(catalog)
    assert found(catalog, "epsilon") == [(second.name, "#9")]
    assert found(catalog, "gamma") == [(second.name, "#1")]
    disk.delete(first, ticking())
    assert found(catalog, "alpha") == []
    fill(catalog)
    assert catalog.exchange(first.name) is None


@pytest.mark.parametrize("secure", [SECURE, False])
def test_a_deleted_session_leaves_the_file_too(
    secure: bool, store: SessionStore, catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinfold.catalog.database.SECURE", secure)
    kept, gone = said(store, "alpha"), said(store, "xylophone marmalade")
    fill(catalog)
    assert b"xylophone" in stored(home)
    disk.delete(gone, ticking())
    catalog.forget(gone)
    assert b"xylophone" not in stored(home)
    assert found(catalog, "alpha") == [(kept.name, "#1")]


def stored(home: Path) -> bytes:
    """Every byte of the index."""
    return b"".join(path.read_bytes() for path in (home / "cache").iterdir())


def test_what_is_deleted_while_the_index_is_filled_does_not_get_into_it(
    store: SessionStore, catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinfold.catalog.filling.BATCH", 20_000)
    for n in range(6):
        gone = said(store, f"xylophone {n}" + " long" * 3_000)
    filling = catalog.fill()
    next(filling)
    disk.delete(gone, ticking())
    catalog.forget(gone)
    list(filling)
    assert gone.name not in {session for session, _ in found(catalog, "xylophone")}
    assert b"xylophone 5" not in stored(home)


def test_two_that_fill_it_at_once_read_each_session_once(
    store: SessionStore, catalog: Catalog, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinfold.catalog.catalog._LOCKED", 0.01)
    every = {said(store, f"kite {n}").name for n in range(3)}
    first, second = catalog.fill(), Catalog(home, home / "cache/catalog.db").fill()
    next(first)
    assert next(second) == 3  # it waits, and tells how many the other has left
    list(first)
    assert list(second) == [0]
    assert sorted(found(catalog, "kite")) == sorted((name, "#1") for name in every)


def test_an_index_that_is_damaged_or_of_another_version_is_made_anew(
    store: SessionStore, catalog: Catalog, home: Path
) -> None:
    folder = said(store, "alpha", "beta")
    database = home / "cache/catalog.db"
    fill(catalog)
    database.write_bytes(b"not a database" * 500)
    assert [line.id for line in catalog.list(5)] == [folder.name]
    fill(catalog)
    assert found(catalog, "alpha") == [(folder.name, "#1")]
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 77")
    fill(catalog)
    assert found(catalog, "alpha") == [(folder.name, "#1")]
    assert database.stat().st_mode & 0o777 == 0o600


def test_where_there_can_be_no_index_lists_are_read_from_the_disk(
    store: SessionStore, home: Path
) -> None:
    folder = said(store, "alpha", "beta")
    (home / "cache").write_bytes(b"a file")
    catalog = Catalog(home, home / "cache/catalog.db")
    fill(catalog)
    assert [line.title for line in catalog.list(5)] == ["alpha"]
    assert [line.title for line in catalog.list(5, "/w")] == ["alpha"]
    assert catalog.list(5, "/elsewhere") == []
    assert catalog.count() == 1
    catalog.forget(folder)


def test_the_list_is_what_the_disk_says_whatever_the_index_says(
    store: SessionStore, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, gone = said(store, "old", cwd="/x"), said(store, "gone")
    os.utime(old / "rollout.jsonl", (1_000, 1_000))
    fill(catalog)
    new = said(store, "new")
    disk.delete(gone, ticking())
    monkeypatch.setattr("pinfold.catalog.catalog.LOOKING", 0.0)  # no time to compare
    assert gone.name not in {line.id for line in catalog.list(5)}
    monkeypatch.setattr("pinfold.catalog.catalog.LOOKING", 60.0)
    assert [line.id for line in catalog.list(5)] == [new.name, old.name]
    assert [line.title for line in catalog.list(5, "/x")] == ["old"]
    assert [line.id for line in catalog.list(1)] == [new.name]
    assert [line.title for line in catalog.sessions([old.name, gone.name])] == ["old"]


def test_newer_items_come_first_and_prompts_before_outputs(
    store: SessionStore, catalog: Catalog
) -> None:
    old = said(store, "kite", now=lambda: datetime(2024, 1, 1, tzinfo=UTC))
    new = said(store, "kite", now=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    with store.create(Path("/w"), "0", lambda: datetime(2026, 3, 1, tzinfo=UTC)) as printed:
        printed.append(item(1, "tool_result", "kite"))
    fill(catalog)
    assert found(catalog, "kite") == [
        (new.name, "#1"),
        (printed.folder.name, "#1"),
        (old.name, "#1"),
    ]


def test_a_common_word_is_searched_among_the_newest(
    store: SessionStore, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "COMMON", 3)
    said(store, *["the kite"] * 2, now=lambda: datetime(2024, 1, 1, tzinfo=UTC))
    new = said(store, "the", "the", "the roof", now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    fill(catalog)
    answer = catalog.search("the", 20, NOW)
    assert answer.common == ("the",)
    assert {hit.session for hit in answer.hits} == {new.name}
    assert found(catalog, "the kite") == []
    assert found(catalog, "the roof") == [(new.name, "#3")]
    assert catalog.search("kite", 20, NOW).common == ()


def test_long_messages_are_searched_at_both_ends_and_a_fork_is_no_second_hit(
    store: SessionStore, catalog: Catalog
) -> None:
    folder = said(store, f"kite {'x ' * SPOKEN} roof {'A' * 1_000}", "yes")
    store.fork(folder, None, ticking())[0].close()
    fill(catalog)
    assert len(found(catalog, "kite roof")) == 1

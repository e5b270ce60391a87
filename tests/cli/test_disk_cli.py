"""`pinfold sessions --size`, `delete` and `gc`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.pictures import picture, prompt
from fakes.sessions import ticking
from fakes.terminal import Terminal
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore

Say = Callable[..., str]


@pytest.fixture
def session(home: Path) -> Path:
    with SessionStore(home).create(Path("/w"), "0", ticking()) as journal:
        journal.append(prompt(1, picture(1)))
    return journal.folder


def test_sizes_are_listed_part_by_part(session: Path, say: Say) -> None:
    listed = say("sessions", "--size")
    assert listed.split()[:8] == [
        *("session", "used", "on", "disk", "rollout", "blobs", "outputs", "rest")
    ]
    assert "All sessions together: " in listed
    (line,) = say("sessions", "--size", "--json").splitlines()
    size = json.loads(line)["disk"]
    assert size["rollout"] == (session / "rollout.jsonl").stat().st_size
    assert size["blobs"] > 6_000 < size["total"]


def test_delete_asks_and_names_the_forks(
    home: Path, session: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = Item(n=2, kind="assistant", content=f"the whole output is in {session}/outputs/c.txt")
    with Journal.open(session, ticking()) as journal:
        journal.append(ItemAdded(item=output))
    store = SessionStore(home)
    all_of_it, _ = store.fork(session, None, ticking())
    all_of_it.close()
    its_start, _ = store.fork(session, 1, ticking())
    its_start.close()
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    asked = say("delete", session.name, code=1)
    assert "“Look at 1.”, 0 turns" in asked
    assert f"Its fork {all_of_it.folder.name[:13]} uses outputs stored here" in asked
    assert f"Its fork {its_start.folder.name[:13]} does not depend on it." in asked
    assert "Nothing deleted.\n" in asked
    assert asked.endswith("Delete it? This can't be undone. [y/N] ")
    assert session.exists()
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert f"Deleted session {session.name}.\n" in say("delete", session.name)
    assert not session.exists()
    assert len(store.list()) == 2


def test_delete_asks_nobody_only_if_told_to(session: Path, say: Say) -> None:
    assert "use --yes when nobody can answer" in say("delete", session.name, code=2)
    with Journal.open(session, ticking()):
        assert "is open in another pinfold" in say("delete", "-y", session.name, code=1)
    assert "There is no session" in say("delete", "-y", session.name, "nothing", code=1)
    assert session.exists()
    say("delete", "-y", session.name)
    assert say("sessions").startswith("No sessions yet.")


def test_a_deleted_session_is_not_found_by_its_words(home: Path, session: Path, say: Say) -> None:
    assert f"{session.name[:13]}  #1" in say("find", "look")
    say("delete", "-y", session.name)
    assert "Nothing found." in say("find", "look", code=1)
    assert b"look" not in b"".join(path.read_bytes() for path in (home / "cache").iterdir())


def test_gc_shows_first_and_removes_when_told_to(session: Path, say: Say) -> None:
    assert say("gc") == "No unused files.\n"
    Blobs(session).add(b"loose" * 1_000)
    shown = say("gc")
    assert f"Session {session.name[:13]}: 1 file, " in shown
    assert "can be removed; `pinfold gc --apply` does it.\n" in shown
    assert say("gc") == shown
    with Journal.open(session, ticking()):
        assert say("gc", "--apply").startswith("1 session is open and skipped.\n")
    assert say("gc", "--apply").endswith(" removed.\n")
    assert say("gc") == "No unused files.\n"
    assert len(list((session / "blobs").iterdir())) == 1

"""Memories without a model: what was said, what worked, what changed."""

from pathlib import Path

import pytest

from fakes.digests import Make, asked, called, replied
from fakes.recorded import recorded
from fakes.remembering import session
from pinfold.adopt.detect import read as read_file
from pinfold.memories.extract import Extraction
from pinfold.memories.offline import offline
from pinfold.memories.source import read
from pinfold.memories.statements import MemoryStatement, statements
from pinfold.rollout import mentions
from pinfold.rollout.store import SessionStore


def made(home: Path, *makes: Make) -> Extraction:
    return offline(read(SessionStore(home).find(session(home, *makes))))


def remembered(found: Extraction) -> list[MemoryStatement]:
    assert found.extracted
    return statements(found.extracted.raw_memory)


def test_what_was_said_and_what_worked_is_remembered_word_for_word(tmp_path: Path) -> None:
    found = made(tmp_path)
    said = {(statement.kind, statement.text) for statement in remembered(found)}
    assert ("said", "Please always run the tests with `make test` before you commit.") in said
    assert ("command", "`make test`") in said
    assert ("file", "Changed `app/limits.py`.") in said
    assert not any("make lint" in text for _, text in said)  # it failed
    assert not any("production" in text for _, text in said)  # only a file says so
    assert found.proven == len(said)
    assert found.extracted
    assert found.extracted.rollout_summary.startswith("Asked: Please always run the tests")
    assert found.extracted.rollout_slug == "please-always-run-the-tests-with"


def test_a_changed_file_is_quoted(tmp_path: Path) -> None:
    diff = "@@\n-LIMIT = 40\n+UPLOAD_LIMIT = 60  # megabytes"
    edit = called("edit", "edited", paths=["app/limits.py"], diff=diff)
    found = remembered(
        made(tmp_path, asked("Raise the upload limit to 60."), edit, replied("Done."))
    )
    (file,) = [statement for statement in found if statement.kind == "file"]
    assert (file.quote, file.file) == ("UPLOAD_LIMIT = 60 # megabytes", "app/limits.py")


@pytest.mark.parametrize(
    "makes",
    [
        (asked("Hi"), replied("Hello! How can I help you today?")),
        (asked("", act="host"),),
        (called("read", "some file or other"),),
    ],
)
def test_of_small_talk_nothing_is_remembered(tmp_path: Path, makes: tuple[Make, ...]) -> None:
    assert made(tmp_path, *makes).extracted is None


@pytest.mark.parametrize("path", [*recorded("codex")[:2], *recorded("claude")[:2]])
def test_of_recorded_sessions_every_statement_is_borne_out(path: Path, tmp_path: Path) -> None:
    events = read_file(path, 0).events
    with SessionStore(tmp_path).adopt(events, Path("/w"), "0", lambda: events[-1].ts) as journal:
        source = read(journal.folder)
    found = offline(source)
    items = {item.n: item for item in source.items}
    calls = {item.call_id: item for item in source.items if item.kind == "tool_call"}
    for statement in remembered(found):
        cited = [items[cite.item] for cite in statement.cites]
        cited += [calls[item.call_id] for item in cited if item.call_id in calls]
        assert not mentions.missing(statement.text, cited, source.cwd)

"""Sessions of other tools are kept before those tools delete them."""

import errno
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pinfold.adopt import detect
from pinfold.adopt.foreign_list import tool_folders
from pinfold.adopt.lines import opened
from pinfold.rollout.events import ItemAdded
from pinfold.vault import taking
from pinfold.vault.shelf import Shelf, VaultError
from pinfold.vault.taking import SyncReport, sync

NOW = datetime(2026, 3, 2, tzinfo=UTC)
ID = "11111111-2222-3333-4444-555555555555"


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    folder = tmp_path / "claude/projects/-w"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "home")


def line(n: int, text: str) -> str:
    record = {
        "type": "user",
        "uuid": f"u{n}",
        "parentUuid": f"u{n - 1}" if n > 1 else None,
        "sessionId": ID,
        "cwd": "/w",
        "timestamp": f"2026-03-01T12:00:{n:02}Z",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(record) + "\n"


def run(
    tmp_path: Path, shelf: Shelf, max_bytes: int = 10**9, days: float | None = None
) -> SyncReport:
    places = {"CODEX_HOME": str(tmp_path / "codex"), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    return sync(shelf, tool_folders(places), NOW, max_bytes=max_bytes, keep_days=days)


def stored(shelf: Shelf, version: int = 1) -> bytes:
    (entry,) = shelf.entries()
    with opened(shelf.folder(entry.tool, entry.session) / f"{version}.jsonl.zst") as file:
        return file.read()


def test_a_session_is_taken_in_up_to_its_last_whole_line_and_grows(
    tmp_path: Path, claude: Path, shelf: Shelf
) -> None:
    file = claude / f"{ID}.jsonl"
    file.write_text(line(1, "kite") + '{"half')
    before = {path: path.stat().st_mtime_ns for path in (file, claude)}
    assert run(tmp_path, shelf).new == 1
    assert stored(shelf).decode() == line(1, "kite")
    assert run(tmp_path, shelf) == SyncReport(same=1)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    file.write_text(line(1, "kite") + line(2, "roof"))
    assert run(tmp_path, shelf).grown == 1
    assert stored(shelf).decode() == line(1, "kite") + line(2, "roof")
    (entry,) = shelf.find(ID[:8])
    assert (entry.title, entry.cwd, len(entry.versions)) == ("kite", "/w", 1)
    modes = {path.stat().st_mode & 0o777 for path in shelf.root.rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert {path.stat().st_mode & 0o777 for path in shelf.root.rglob("*") if path.is_dir()} == {
        0o700
    }
    items = [event.data for event in detect.read(shelf.file(entry)).events]
    assert "roof" in [data.item.content for data in items if isinstance(data, ItemAdded)]


def test_a_session_that_was_written_anew_is_a_second_version(
    tmp_path: Path, claude: Path, shelf: Shelf
) -> None:
    file = claude / f"{ID}.jsonl"
    file.write_text(line(1, "kite"))
    run(tmp_path, shelf)
    file.write_text(line(1, "roof"))
    assert run(tmp_path, shelf).version == 1
    assert (stored(shelf).decode(), stored(shelf, 2).decode()) == (
        line(1, "kite"),
        line(1, "roof"),
    )
    other = claude.with_name("-elsewhere")
    other.mkdir()
    (other / file.name).write_text(line(1, "kite") + line(2, "on"))
    assert run(tmp_path, shelf).grown == 1
    assert stored(shelf).decode() == line(1, "kite") + line(2, "on")
    assert stored(shelf, 2).decode() == line(1, "roof")


def test_agents_and_spilled_results_come_along_and_links_do_not(
    tmp_path: Path, claude: Path, shelf: Shelf
) -> None:
    (claude / f"{ID}.jsonl").write_text(line(1, "kite"))
    (claude / ID / "subagents").mkdir(parents=True)
    agent = claude / ID / "subagents/agent-1.jsonl"
    agent.write_text(line(1, "look"))
    (claude / ID / "tool-results").mkdir()
    (claude / ID / "tool-results/a.txt").write_text("spilled")
    secret = tmp_path / "secret.jsonl"
    secret.write_text("secret")
    (claude / ID / "tool-results/link.txt").symlink_to(secret)
    (claude / "linked.jsonl").symlink_to(secret)
    os.mkfifo(claude / "pipe.jsonl")
    run(tmp_path, shelf)
    (entry,) = shelf.entries()
    beside = shelf.folder("claude", ID) / "1.jsonl"
    with opened(beside / "tool-results/a.txt") as file:
        assert file.read() == b"spilled"
    assert not (beside / "tool-results/link.txt").exists()
    agent.unlink()
    run(tmp_path, shelf)
    assert (beside / "subagents/agent-1.jsonl").exists()
    assert set(entry.newest.beside) == {"subagents/agent-1.jsonl", "tool-results/a.txt"}


def test_a_session_of_codex_is_one_entry_wherever_it_moves(tmp_path: Path, shelf: Shelf) -> None:
    import zstandard

    name = f"rollout-2026-03-01T12-00-00-{ID}.jsonl"
    day = tmp_path / "codex/sessions/2026/03/01"
    day.mkdir(parents=True)
    meta = {"timestamp": "2026-03-01T12:00:00Z", "type": "session_meta", "payload": {"id": ID}}
    content = (json.dumps(meta) + "\n").encode()
    (day / name).write_bytes(content)
    assert run(tmp_path, shelf).new == 1
    archive = tmp_path / "codex/archived_sessions"
    archive.mkdir()
    (day / name).unlink()
    (archive / f"{name}.zst").write_bytes(zstandard.compress(content))
    assert run(tmp_path, shelf).same == 1
    (entry,) = shelf.entries()
    assert (entry.session, len(entry.versions)) == (ID, 1)
    assert stored(shelf) == content


def test_what_is_removed_stays_out(tmp_path: Path, claude: Path, shelf: Shelf) -> None:
    file = claude / f"{ID}.jsonl"
    file.write_text(line(1, "kite"))
    run(tmp_path, shelf)
    (entry,) = shelf.entries()
    shelf.remove(entry, for_good=True)
    file.write_text(line(1, "kite") + line(2, "roof"))
    assert run(tmp_path, shelf) == SyncReport(unwanted=1)
    assert list(shelf.entries()) == []
    assert b"kite" not in b"".join(p.read_bytes() for p in shelf.root.rglob("*") if p.is_file())


def test_the_oldest_go_for_room_and_age_and_come_back_when_used(
    tmp_path: Path, claude: Path, shelf: Shelf
) -> None:
    for n, name in enumerate("abc"):
        path = claude / f"{name}.jsonl"
        path.write_text(line(1, os.urandom(2_000).hex()))
        os.utime(path, (1_000 + n, 1_000 + n))
    run(tmp_path, shelf)
    (one,) = shelf.find("a")
    assert run(tmp_path, shelf, shelf.size(one) * 5 // 2) == SyncReport(same=3, removed=1)
    assert {entry.session for entry in shelf.entries()} == {"b", "c"}
    assert run(tmp_path, shelf) == SyncReport(same=2, unwanted=1)
    with (claude / "a.jsonl").open("a") as file:
        file.write(line(2, "again"))
    assert run(tmp_path, shelf) == SyncReport(new=1, same=2)
    os.utime(claude / "a.jsonl", (NOW.timestamp(), NOW.timestamp()))
    run(tmp_path, shelf)
    run(tmp_path, shelf, days=1)
    assert {entry.session for entry in shelf.entries()} == {"a"}


def test_a_full_disk_and_a_sync_elsewhere_lose_nothing(
    tmp_path: Path, claude: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = claude / f"{ID}.jsonl"
    file.write_text(line(1, "kite"))
    run(tmp_path, shelf)
    file.write_text(line(1, "kite") + line(2, "roof"))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(VaultError, match="disk is full"):
            run(tmp_path, shelf)
    with taking.locked(shelf), pytest.raises(VaultError, match="Another pinfold"):
        run(tmp_path, shelf)
    assert stored(shelf).decode() == line(1, "kite")
    assert run(tmp_path, shelf).grown == 1


def test_names_and_titles_that_are_no_text_are_kept(
    tmp_path: Path, claude: Path, shelf: Shelf
) -> None:
    folder = claude.with_name("-odd\udcff")
    folder.mkdir()
    file = folder / "odd\udcff.jsonl"
    file.write_text(line(1, "kite").replace("kite", "\\ud800kite"))
    (claude / f"{ID}.jsonl").write_text(line(1, "roof"))
    assert run(tmp_path, shelf).new == 2
    assert run(tmp_path, shelf).same == 2
    (entry,) = [one for one in shelf.entries() if one.session != ID]
    assert entry.newest.original == file
    with taking.locked(shelf):
        shelf.remove(entry, for_good=False)
    assert run(tmp_path, shelf).unwanted == 1


def test_hostile_files_are_named_or_left_alone(
    tmp_path: Path, claude: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "LINE", 1_000)
    monkeypatch.setattr(taking, "_BLOCK", 100)
    (claude / "long.jsonl").write_text("x" * 5_000)
    (claude / "half.jsonl").write_text('{"half')
    (claude / "a b\n.jsonl").write_text(line(1, "odd"))
    report = run(tmp_path, shelf)
    assert list(report.failed) == [str(claude / "long.jsonl")]
    (entry,) = shelf.entries()
    assert len(entry.session) == 64
    (shelf.folder("claude", entry.session) / "entry.json").write_bytes(b"\xff not JSON")
    assert list(shelf.entries()) == []
    assert run(tmp_path, shelf).new == 1
    (claude / "..jsonl").write_text(line(1, "without a name"))
    run(tmp_path, shelf)
    assert [one.newest.beside for one in shelf.entries()] == [{}, {}]

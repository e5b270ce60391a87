"""The list of other tools' sessions: from the heads and ends of their files, kept in a cache."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard

from fakes.foreign import Codex, codex_session
from fakes.foreign_claude import Claude, claude_session, text, tokens
from pinfold.adopt.foreign_list import ForeignSession, sessions, tool_folders


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"CODEX_HOME": str(tmp_path / "codex"), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}


def codex_file(env: dict[str, str], content: bytes, name: str = "a.jsonl") -> Path:
    file = Path(env["CODEX_HOME"]) / "sessions" / "2026" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def claude_file(env: dict[str, str], made: Claude) -> Path:
    file = Path(env["CLAUDE_CONFIG_DIR"]) / "projects" / "-p" / "s.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(made.encoded()))
    return file


def listed(env: dict[str, str], tmp_path: Path) -> list[ForeignSession]:
    return list(sessions(tool_folders(env), tmp_path / "state.db"))


def long_codex() -> Codex:
    """What tells how full it was lies behind a megabyte of what follows."""
    made = Codex()
    made.meta(base_instructions={"text": "x" * 300_000})
    made.message("user", "<environment_context>\n/p")
    made.turn_context()
    made.user("Fix\nthe test.")
    made.tokens(1_000)
    made.result("a", "y" * 100_000)
    made.turn_context("gpt-5.6")
    made.tokens(50_000)
    made.event("token_count", info=None)
    made.result("b", "z" * 1_000_000)
    return made


def test_the_list_is_in_the_order_of_the_ages_that_it_shows(
    env: dict[str, str], tmp_path: Path
) -> None:
    for name, day, changed in (("a", 2, 400_000_000), ("b", 9, 300_000_000), ("c", 5, 500_000_000)):
        content = b'{"timestamp": "1979-01-0%dT00:00:00Z", "type": "event_msg", "payload": {}}\n'
        file = codex_file(env, content % day, f"{name}.jsonl")
        os.utime(file, (changed, changed))
    ages = [line.updated_at for line in listed(env, tmp_path)]
    assert len(set(ages)) == 3
    assert ages == sorted(ages, reverse=True)


def test_a_codex_session(env: dict[str, str], tmp_path: Path) -> None:
    file = codex_file(env, b"".join(long_codex().encoded()))
    (line,) = listed(env, tmp_path)
    assert (line.tool, line.file, line.session) == ("codex", file, "019-a")
    assert (line.title, line.cwd, line.model) == ("Fix", "/p", "gpt-5.6")
    assert (line.used, line.limit, line.size) == (50_007, 258_400, file.stat().st_size)
    assert line.full == 50_007 / 258_400


def test_a_compressed_one_says_the_same(env: dict[str, str], tmp_path: Path) -> None:
    content = b"".join(long_codex().encoded())
    codex_file(env, zstandard.compress(content), "a.jsonl.zst")
    (line,) = listed(env, tmp_path)
    assert (line.title, line.used) == ("Fix", 50_007)


def test_the_oldest_rollouts_have_a_title_too(env: dict[str, str], tmp_path: Path) -> None:
    codex_file(
        env,
        b'{"id":"old","timestamp":"2025-01-01T00:00:00Z","instructions":null}\n'
        b'{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}\n',
    )
    (line,) = listed(env, tmp_path)
    assert (line.session, line.title, line.used, line.full) == ("old", "Hi.", 0, None)


def test_a_claude_session(env: dict[str, str], tmp_path: Path) -> None:
    made = claude_session()
    claude_file(env, made)
    (line,) = listed(env, tmp_path)
    assert (line.tool, line.session, line.title) == ("claude", "s-1", "Tests and changelog")
    assert (line.used, line.limit, line.model) == (337, 1_000_000, "claude-opus-4-6")


def test_side_chains_and_the_host_say_nothing_of_the_window(
    env: dict[str, str], tmp_path: Path
) -> None:
    made = Claude()
    made.user("<command-name>/clear</command-name>")
    made.user("Caveats.", isMeta=True)
    made.user("Look.")
    made.assistant(text("Looked."), usage=tokens(1_000))
    made.assistant(text("Aside."), usage=tokens(9_000), isSidechain=True)
    claude_file(env, made)
    (line,) = listed(env, tmp_path)
    assert (line.title, line.used) == ("Look.", 1_327)


def test_a_compaction_at_the_end_emptied_the_window(env: dict[str, str], tmp_path: Path) -> None:
    made = Claude()
    made.user("Look.")
    made.assistant(text("Looked."), usage=tokens(150_000))
    made.boundary(postTokens=9_000)
    claude_file(env, made)
    (line,) = listed(env, tmp_path)
    assert line.used == 9_000


def test_newest_first_and_archived_ones_too(env: dict[str, str], tmp_path: Path) -> None:
    content = b"".join(codex_session().encoded())
    new, old = codex_file(env, content), Path(env["CODEX_HOME"]) / "archived_sessions" / "b.jsonl"
    old.parent.mkdir()
    old.write_bytes(content)
    os.utime(old, (1, 1))
    assert [line.file for line in listed(env, tmp_path)] == [new, old]


def test_a_file_is_read_again_only_where_it_changed(env: dict[str, str], tmp_path: Path) -> None:
    made = codex_session()
    file = codex_file(env, b"".join(made.encoded()))
    stat = file.stat()
    assert listed(env, tmp_path)[0].title == "Fix the test."
    file.write_bytes(b"x" * stat.st_size)
    os.utime(file, ns=(stat.st_mtime_ns, stat.st_mtime_ns))
    assert listed(env, tmp_path)[0].title == "Fix the test."
    os.utime(file, ns=(stat.st_mtime_ns, stat.st_mtime_ns + 1))
    assert listed(env, tmp_path)[0].title == ""


@pytest.mark.parametrize(
    "content",
    [
        b"\0\1\2\xff",
        b"\x28\xb5\x2f\xfdbroken",
        b"[1]\n3\nnull\n",
        b'{"type":"session_meta","payload":{"id":7,"cwd":[],"source":3}}\n',
        b'{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":5}}}',
        b'{"type":"response_item","payload":{"type":[],"role":{}}}',
        b"[" * 5_000,
    ],
)
def test_damaged_files_are_listed_all_the_same(
    env: dict[str, str], tmp_path: Path, content: bytes
) -> None:
    codex_file(env, content)
    claude_file(env, Claude()).write_bytes(content)
    assert [line.title for line in listed(env, tmp_path)] == ["", ""]


def test_nothing_there(env: dict[str, str], tmp_path: Path) -> None:
    codex_file(env, b"")
    assert listed(env, tmp_path) == []


def test_the_age_is_that_of_the_last_line(env: dict[str, str], tmp_path: Path) -> None:
    made = codex_session()
    file = codex_file(env, b"".join(made.encoded()))
    os.utime(file, (1, 1))
    (line,) = listed(env, tmp_path)
    last = datetime.fromisoformat(made.lines[-1]["timestamp"])
    assert line.updated_at == last
    assert listed(env, tmp_path)[0].updated_at == last  # from the cache


def test_a_file_without_times_is_as_old_as_the_file(env: dict[str, str], tmp_path: Path) -> None:
    os.utime(codex_file(env, b'{"id":"a"}\n'), (1, 1))
    (line,) = listed(env, tmp_path)
    assert line.updated_at == datetime.fromtimestamp(1, UTC)

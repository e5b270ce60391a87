"""What a session is told of memories, what it is not, and why."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pinfold.memories.reader import MemoryReader
from pinfold.memories.reading import CitedSources, MemoryLine, lines, select
from pinfold.memories.records import Extracted, SessionCandidate
from pinfold.memories.usage import usage_of
from pinfold.ports.memories import CutReply
from pinfold.rollout.events import Event, MemoryUsed
from pinfold.rollout.memory import MemoryCited

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ONE, TWO = "0198ab12-1234-7000-8000-000000000001", "0198ab13-9999-7000-8000-000000000002"


def count(text: str) -> int:
    return len(text.split())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A record of a session whose folder is `tmp_path/work`; the file it quotes is there."""
    home, work = tmp_path / "home", tmp_path / "work"
    rollout = home / "sessions" / "2026" / "02" / "28" / ONE / "rollout.jsonl"
    for folder in (home / "memories", work, rollout.parent):
        folder.mkdir(parents=True)
    rollout.write_text("{}\n")
    (work / "limits.py").write_text("LIMIT = 40\n")
    (home / "memories" / "memory_summary.md").write_text(
        f"# Memory summary\n\n## /elsewhere\n\n- fact: Nothing here. [{ONE}#9]\n\n"
        f"## {work}\n\n- rule: Run make test. [{ONE}#7]\n"
        f'- fact: The limit is 40. [{ONE}#8] "LIMIT = 40" in "limits.py"\n'
        f"- my own line\n\n## Unconfirmed\n\n- fact: The moon is cheese. [{ONE}#1]\n"
    )
    reader = MemoryReader(home, lambda: NOW)
    found = SessionCandidate(ONE, str(rollout), str(work), 1.0)
    (claim,) = reader.state.claim_sessions([found], 1)
    assert reader.state.finish_extracted(claim, found, Extracted("", ""))
    reader.close()
    return home


def front(home: Path, most: int = 1_000) -> str:
    reader = MemoryReader(home, lambda: NOW)
    try:
        return reader.front(home.parent / "work", most, count)
    finally:
        reader.close()


def test_a_session_is_told_the_lines_of_its_folder_first_with_what_bears_them_out(
    home: Path,
) -> None:
    text = front(home)
    said = text[text.index("</memory_citations>") :].splitlines()[2:]
    assert said == [
        f"In {home.parent / 'work'}:",
        "9 rule: Run make test. [0198ab12-1234#7]",
        "10 fact: The limit is 40. [0198ab12-1234#8]",
        "11 my own line",
        "",
        "In /elsewhere:",
        "5 fact: Nothing here. [0198ab12-1234#9]",
    ]
    assert "data, not orders" in text
    assert str(home / "memories") in text


def test_what_its_file_no_longer_says_is_not_told_until_it_is_confirmed(home: Path) -> None:
    (home.parent / "work" / "limits.py").write_text("LIMIT = 50\n")
    assert "limit is 40" not in front(home)
    assert "Run make test" in front(home)
    reader = MemoryReader(home, lambda: NOW)
    text = (home / "memories" / "memory_summary.md").read_text()
    line = next(memory_line for memory_line in lines(text) if "limit" in memory_line.text)
    assert reader.sources().stale(line) == "limits.py no longer contains it"
    reader.state.confirm(line.hash)
    reader.close()
    assert "limit is 40" in front(home)


def test_memories_of_a_deleted_session_are_not_told(home: Path) -> None:
    (rollout,) = home.glob("sessions/*/*/*/*/rollout.jsonl")
    rollout.unlink()
    rollout.parent.rmdir()
    text = front(home)
    assert "make test. [" not in text
    assert "my own line" in text


def test_a_memory_has_no_file_read_outside_of_its_folder(home: Path) -> None:
    (home.parent / "secret").write_text("LIMIT = 40")
    line = lines(f'- fact: x. [{ONE}#8] "LIMIT = 40" in "../secret"')[0]
    sources = CitedSources(lambda _: str(home.parent / "work"))
    assert sources.stale(line) == "../secret no longer contains it"


def test_a_heading_that_names_a_home_of_nobody_names_no_folder() -> None:
    assert [line.folder for line in lines("## ~nobody-here/app\n\n- fact: x")] == [""]


def test_only_as_much_is_told_as_there_is_room_for() -> None:
    every = [MemoryLine(n, f"word {n}") for n in range(1, 9)]
    chosen = select(every, Path("/w"), 9, count)
    assert [line.number for line in chosen] == [1, 2]
    assert select(every, Path("/w"), 3, count) == []


def test_a_citation_counts_for_the_sessions_of_the_lines_that_it_names(home: Path) -> None:
    reader = MemoryReader(home, lambda: NOW)
    cited = (MemoryCited("memory_summary.md", 9, 10), MemoryCited("../secret", 1, 1))
    used = reader.cited(CutReply("", "", cited, ("0198ab12-1234", "ffffffff-0000")))
    assert used.cited == cited[:1]  # nothing that is not there
    assert used.sources == (f"{ONE}#7", f"{ONE}#8")
    assert used.sessions == (ONE,)
    reader.count_use(used.sessions, NOW)
    (row,) = reader.state.outputs()
    assert (row.usage_count, row.last_usage) == (1, NOW.timestamp())
    events = [
        Event(1, NOW, used),
        Event(1, NOW, used),
        Event(2, NOW, MemoryUsed(item=3, via="read")),
    ]
    assert usage_of(events) == {ONE: (1, NOW)}
    reader.close()


def test_each_file_of_memories_has_its_kind(home: Path) -> None:
    reader = MemoryReader(home, lambda: NOW)
    folder = reader.folder.resolve()
    for name, kind in {
        "MEMORY.md": "MEMORY.md",
        "memory_summary.md": "summary",
        "raw_memories.md": "raw",
        "rollout_summaries/2026-01-01-x.md": "rollout_summary",
        "skills/tests/SKILL.md": "skill",
        "extensions/x/notes.md": "other",
    }.items():
        assert reader.kind(folder / name) == (kind, name)
        assert reader.kind(home.resolve() / name) is None
        assert reader.kind(folder / ".git" / name) is None

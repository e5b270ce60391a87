"""The files that consolidation reads."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.consolidating import line, session
from pinfold.memories import artifacts, trees
from pinfold.memories.places import RAW, SUMMARIES
from pinfold.memories.records import Output

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def output(number: int, raw: str = "", slug: str = "tests", summary: str = "It ran.") -> Output:
    at = (NOW - timedelta(days=2)).timestamp()
    return Output(
        session(number), "host", "r", "/home/me", at, at, raw, summary, slug, 0, None, False, None
    )


def sync(folder: Path, *selected: Output) -> None:
    artifacts.sync(folder, selected, NOW, lambda: None)


def test_files_follow_the_selection_and_leave_what_is_consolidated_alone(tmp_path: Path) -> None:
    trees.write(tmp_path, {"MEMORY.md": b"m", "memory_summary.md": b"s", "skills/x/SKILL.md": b"k"})
    sync(tmp_path, output(2, line(2, 3, "Two.")), output(1, line(1, 9, "One.")))
    assert (tmp_path / RAW).read_text() == (
        "# Raw memories\n\nOne block a session, in ascending order of their ids.\n\n"
        f"## Session {session(1)}\n\nFolder: /home/me\nUpdated: 2026-11-20T00:00:00Z\n\n"
        f"{line(1, 9, 'One.')}\n\n"
        f"## Session {session(2)}\n\nFolder: /home/me\nUpdated: 2026-11-20T00:00:00Z\n\n"
        f"{line(2, 3, 'Two.')}\n"
    )
    names = ["2026-11-20-tests-2.md", "2026-11-20-tests.md"]
    assert sorted(path.name for path in (tmp_path / SUMMARIES).iterdir()) == names
    sync(tmp_path)
    assert (tmp_path / RAW).read_text() == artifacts.EMPTY
    left = {"MEMORY.md": b"m", "memory_summary.md": b"s", "skills/x/SKILL.md": b"k"}
    assert trees.read(tmp_path) == {**left, RAW: artifacts.EMPTY.encode()}


def test_old_resources_of_extensions_go_and_nothing_else_of_them(tmp_path: Path) -> None:
    kept = ["extensions/a/instructions.md", "extensions/a/resources/new.md"]
    old = ["extensions/a/resources/old.md", "extensions/a/resources/deep/old.md"]
    trees.write(tmp_path, dict.fromkeys([*kept, *old], b"note"))
    week = (NOW - timedelta(days=7)).timestamp()
    for name in [kept[0], *old]:
        os.utime(tmp_path / name, (week - 1, week - 1))
    os.utime(tmp_path / kept[1], (week, week))
    sync(tmp_path)
    assert sorted(name for name in trees.read(tmp_path) if name != RAW) == kept


def test_a_link_is_replaced_and_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim.md").write_text("mine")
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / SUMMARIES).symlink_to(outside)
    (folder / RAW).symlink_to(outside / "victim.md")
    (folder / "extensions").symlink_to(outside)
    sync(folder, output(1, line(1, 1, "One.")))
    assert [path.name for path in outside.iterdir()] == ["victim.md"]
    assert (outside / "victim.md").read_text() == "mine"
    assert sorted(trees.read(folder)) == [RAW, f"{SUMMARIES}/2026-11-20-tests.md"]


TEXTS = st.text(max_size=80) | st.sampled_from(["## Session x\n\n", "../../etc", "a/b", "CON", ""])


@settings(max_examples=25)
@given(st.dictionaries(st.integers(1, 50), st.tuples(TEXTS, TEXTS, TEXTS), max_size=6), st.data())
def test_any_selection_in_any_order_gives_the_same_files(
    records: dict[int, tuple[str, str, str]], data: st.DataObject
) -> None:
    selected = [output(n, raw, slug, text) for n, (raw, slug, text) in records.items()]
    shuffled = data.draw(st.permutations(selected))
    raw, files = artifacts.raw_memories(selected), artifacts.summaries(selected)
    assert (raw, files) == (artifacts.raw_memories(shuffled), artifacts.summaries(shuffled))
    heads = [part[11:] for part in raw.split("\n") if part.startswith("## Session ")]
    assert heads == sorted(row.session_id for row in selected)
    assert len(files) == len(selected)
    assert all("/" not in name and name.isascii() and name.endswith(".md") for name in files)
    assert sorted(map(artifacts.session_of, files.values())) == heads
    gone = {session(n) for n in data.draw(st.sets(st.sampled_from(sorted(records) or [0])))}
    left = [row for row in selected if row.session_id not in gone]
    assert artifacts.without(raw, gone) == artifacts.raw_memories(left)

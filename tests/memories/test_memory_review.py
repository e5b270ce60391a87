"""A consolidation that waits for the user's word, change by change."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.consolidating import Memories, agent_writing, line, session
from pinfold.memories import baseline, review, trees
from pinfold.memories.places import MEMORY, SUMMARY, MemoriesRefused

ONE, TWO, THREE = (line(n, 1, f"Port {n} is 808{n}.") for n in (1, 2, 3))


def page(*lines: str) -> str:
    return "\n".join(["# Memory", "", "## /home/me/app", "", *lines, ""])


@pytest.fixture
async def at(tmp_path: Path) -> Memories:
    """One line is in use; a consolidation that brings two more waits."""
    made = Memories(tmp_path)
    for n, text in enumerate((ONE, TWO, THREE), 1):
        made.remember(n, text)
    await made.run(agent_writing(page(TWO), page(TWO)))
    made.remember(4, line(4, 1, "Port 4 is 8084."))
    skill = f"# Port\n\n1. Port 1 is 8081. [{session(1)}#1]\n"
    script = agent_writing(page(ONE, TWO, THREE), page(TWO), **{"skills/p/SKILL.md": skill})
    assert (await made.run(script, review=True)).status == "held"
    return made


async def test_a_held_result_changes_nothing_starts_no_other_and_can_be_cleared(
    at: Memories,
) -> None:
    base = baseline.read(at.places)
    assert at.text() == page(TWO)
    waiting = review.pending(at.places)
    assert waiting is not None
    assert [(h.path, h.line, h.before, h.after) for h in waiting.hunks[:2]] == [
        (MEMORY, 5, "", f"{ONE}\n"),
        (MEMORY, 6, "", f"{THREE}\n"),
    ]
    assert waiting.hunks[2].path == "skills/p/SKILL.md"
    assert waiting.diff.startswith(f"diff --git a/{MEMORY} b/{MEMORY}\n")
    at.remember(5, line(5, 1, "Port 5 is 8085."))
    again = await at.run([], review=True)
    assert (again.status, at.provider.requests) == ("held", [])
    assert baseline.read(at.places) == base
    with pytest.raises(MemoriesRefused, match="waiting for review"):
        review.undo(at.places)
    trees.put(at.places.files, "extensions/x/note.md", b"note")
    at.state.clear()
    review.clear(at.places)
    assert trees.read(at.places.files) == {"extensions/x/note.md": b"note"}
    assert baseline.read(at.places) == {}
    assert review.pending(at.places) is None
    left = [path.name for path in at.places.work.rglob("*") if path.is_file()]
    assert left == ["lock"]


async def test_each_change_is_accepted_edited_or_rejected(at: Memories) -> None:
    waiting = review.pending(at.places)
    assert waiting is not None
    first, second, skill = waiting.hunks
    review.reject(at.places, first.id)
    assert at.text() == page(TWO)
    with pytest.raises(MemoriesRefused, match="change is gone"):
        review.accept(at.places, first.id)
    review.edit(at.places, second.id, "- Port 3 is mine.")
    assert at.text() == page(TWO, "- Port 3 is mine.")
    # What the user writes into the file meanwhile is part of what they decide about.
    trees.put(at.places.files, SUMMARY, f"{page(TWO)}- Be brief.\n".encode())
    (left, stray) = (review.pending(at.places) or waiting).hunks
    assert (left.path, left.after, stray.id) == (SUMMARY, "", skill.id)
    review.reject(at.places, left.id)
    review.accept(at.places, stray.id)
    assert review.pending(at.places) is None
    assert at.text(SUMMARY) == f"{page(TWO)}- Be brief.\n"
    assert "8081" in at.text("skills/p/SKILL.md")
    # It is over: nothing is proposed again, and all of it can be undone.
    assert (await at.run([], review=True)).status == "unchanged"
    review.undo(at.places)
    assert at.text() == page(TWO)
    with pytest.raises(MemoriesRefused, match="There is no consolidation to undo"):
        review.undo(at.places)


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\r\n", "e"]), max_size=8)


@given(TEXTS.map("".join), TEXTS.map("".join), st.data())
def test_changes_one_by_one_lead_to_the_whole(before: str, after: str, data: st.DataObject) -> None:
    wanted = {MEMORY: after.encode()} if after else {}
    text = before.encode() or None
    rejected = False
    while hunks := review.hunks_of(MEMORY, {MEMORY: text} if text else {}, wanted):
        chosen = data.draw(st.lists(st.sampled_from(hunks), min_size=1, unique_by=lambda h: h.id))
        edits = [(hunk.line, hunk.before, hunk.after) for hunk in chosen]
        if data.draw(st.booleans()):
            text = review.replaced(text, edits)
        else:  # what is rejected leaves the proposal
            rejected = True
            others = [(h.line, h.before, h.after) for h in hunks if h not in chosen]
            proposed = review.replaced(text, others)
            wanted = {MEMORY: proposed} if proposed else {}
    assert rejected or text == (after.encode() or None)

"""The block with which a reply cites memories: read once, hidden, and never in the way."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pinfold.memories.citations import CLOSE, OPEN, cut, shown
from pinfold.rollout.memory import MemoryCited

BLOCK = f"{OPEN}\nmemory_summary.md:12-14 | how tests run\nsessions: 0198ab12-1234\n{CLOSE}"

_parts = [
    OPEN,
    CLOSE,
    f"  {OPEN}",
    "a:1-2 | x",
    "a:9-1",
    "a:0",
    "sessions: 0198ab12-1",
    "sessions:",
]
_lines = st.sampled_from([*_parts, "sessions:", "é|", ""]) | st.text(max_size=30)
_replies = st.lists(_lines, max_size=12).map("\n".join)


def test_a_block_at_the_end_is_cut_and_read() -> None:
    found = cut(f"Run `make test`.\n\n{BLOCK}\n")
    assert found is not None
    assert found.text == "Run `make test`."
    assert found.cited == (MemoryCited("memory_summary.md", 12, 14, "how tests run"),)
    assert found.sessions == ("0198ab12-1234",)


@pytest.mark.parametrize(
    "reply",
    [
        "No block.",
        f"The block `{OPEN}` closes a reply.",
        f"Text.\n{BLOCK}\nMore text.",
        BLOCK,
        f"Text.\n{OPEN}\n" + "x" * 9_000,
        f"Such a block begins with\n{OPEN}\nand names places.\nDelete `a.py` now?",
    ],
    ids=["none", "named", "in the middle", "nothing else", "too long", "text behind it"],
)
def test_what_does_not_close_a_reply_stays(reply: str) -> None:
    assert cut(reply) is None


def test_a_block_that_was_cut_off_is_hidden_all_the_same() -> None:
    found = cut(f"Text.\n{OPEN}\nMEMORY.md:3 |")
    assert found is not None
    assert found.cited == (MemoryCited("MEMORY.md", 3, 3),)


@given(_replies)
@example(f"x\n{OPEN}\n{OPEN}\n")
def test_no_reply_is_too_odd(reply: str) -> None:
    found = cut(reply)
    if found is not None:
        assert reply.startswith(found.text)
        assert reply.endswith(found.block)
        assert found.text.strip()
        assert not reply[len(found.text) : len(reply) - len(found.block)].strip()
        assert all(1 <= event.first <= event.last for event in found.cited)
        assert all("\n" not in event.path + event.note for event in found.cited)


@given(_replies, st.lists(st.integers(0, 200), max_size=6))
def test_what_streams_shows_the_reply_and_nothing_of_its_block(
    reply: str, steps: list[int]
) -> None:
    whole = f"{reply}\n{BLOCK}"
    said, passed = "", 0
    for end in sorted({*(min(step, len(whole)) for step in steps), len(whole)}):
        passed = max(passed, shown(whole[:end]))
        said = whole[:passed]
        assert OPEN not in [line.strip() for line in said.split("\n")]
    if OPEN not in reply:
        assert said.rstrip() == reply.rstrip()

"""What the window looks like as text."""

from datetime import UTC, datetime, timedelta

import pytest

from fakes.context import make_session
from pinfold.commands.context_text import age, lines
from pinfold.rollout.items import Item

NOW = datetime(2026, 1, 1, 12, 5, tzinfo=UTC)


async def test_every_row_is_a_line_with_what_was_done_to_it() -> None:
    session = make_session()
    for act, n in (("pin", 4), ("mask", 3), ("fold", 6)):
        await session.window.act(act, [n])
    head, facts, segments, _, *rows = lines(session.window.overview(), NOW)
    assert head.endswith("estimated")
    assert facts.startswith("9 items · 2 pinned · 1 masked · 2 folded · compacts at ")
    assert facts.endswith(" reserved for the reply · window 0")
    assert "tool results" in segments
    assert len(rows) == 4 + 9
    assert "AGENTS.md" in rows[1]
    said = {int(row.split()[0][1:]): row for row in rows[4:]}
    assert "call" in said[2]
    assert "read_file src/config.py" in said[2]
    assert said[2].endswith("[src/config.py]")
    assert "◐" in said[3]
    assert "⚑" in said[4]
    assert "○" in said[7]
    assert "5m" in said[1]


async def test_control_characters_are_drawn() -> None:
    session = make_session()
    session.append(Item(n=10, kind="user", content="a\x1b[2Jb"))
    assert not any("\x1b" in line for line in lines(session.window.overview(), NOW))


@pytest.mark.parametrize(
    ("seconds", "said"), [(-5, "now"), (59, "now"), (60, "1m"), (7_300, "2h"), (200_000, "2d")]
)
def test_age(seconds: int, said: str) -> None:
    assert age(NOW - timedelta(seconds=seconds), NOW) == said

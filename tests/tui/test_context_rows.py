"""Which rows the context panel shows, and how a line gives way where it is narrow."""

from datetime import UTC, datetime

import pytest
from rich.style import Style

from fakes.context import make_session
from pinfold.tui.panels.context_line import Columns, Drawn, Looks, draw
from pinfold.tui.panels.context_rows import chosen
from pinfold.window.gauge import ORDER
from pinfold.window.overview import Row

NOW = datetime(2026, 1, 1, 15, tzinfo=UTC)
PLAIN = Looks(*[Style()] * 6, dict.fromkeys(ORDER, Style()), letters=True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("twice", [1]),
        ("READ config", [1, 2, 3, 4, 5]),
        ("user", [1, 9]),
        ("results", [3, 5, 7]),
        ("shell", [6, 7]),
        ("shell result", [7]),
        ("src/**", [2, 3]),
        ("*.md", [4, 5]),
        ("#4", [4]),
        ("pinned", [4, 5]),
        ("masked", [3]),
        ("folded", [6, 7]),
        ("nonsense", []),
    ],
)
async def test_filters(query: str, found: list[int]) -> None:
    session = make_session()
    for act, n in (("pin", 4), ("mask", 3), ("fold", 6)):
        await session.window.act(act, [n])
    rows = chosen(session.window.overview().rows, query, lambda _: "")
    assert [row.n for row in rows if isinstance(row, Row)] == found


def test_columns_give_way_one_after_the_other() -> None:
    overview = make_session().window.overview()
    row = overview.rows[2]
    lines = {}
    for width in (160, 100, 75, 40):
        how = Drawn(row.tokens, NOW, cursor=False, selected=False)
        segments = draw(row, Columns.fitting(width, 3), PLAIN, how)
        lines[width] = "".join(segment.text for segment in segments)
        assert len(lines[width]) == width
    assert all("#3" in line and "read_file" in line for line in lines.values())
    assert "%" in lines[160]
    assert "%" not in lines[75]
    assert "src/config.py" in lines[100]
    assert "src/config.py" not in lines[75]
    assert "t result" in lines[75]
    assert "2h" in lines[75]
    assert "result" not in lines[40]
    assert " t " in lines[40]
    assert str(row.tokens) in lines[40]

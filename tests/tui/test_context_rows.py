"""Which rows the context panel shows, and how a line gives way where it is narrow."""

from datetime import UTC, datetime

import pytest

from fakes.context import make_session
from fakes.screen import make_app, until
from pinfold.tui.panels.context import ContextPanel
from pinfold.tui.panels.context_rows import chosen
from pinfold.tui.panels.context_table import ContextTable
from pinfold.window.overview import ItemRow

NOW = datetime(2026, 1, 1, 15, tzinfo=UTC)


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
    assert [row.n for row in rows if isinstance(row, ItemRow)] == found


@pytest.mark.parametrize("width", [160, 100, 75, 40])
async def test_columns_give_way_one_after_the_other(width: int) -> None:
    session = make_session()
    row = session.window.overview().rows[2]
    frame = 5 if width >= 60 else 1
    async with make_app(session).run_test(size=(width + frame, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        pilot.app.push_screen(ContextPanel(session, now=lambda: NOW))
        await until(pilot, lambda: pilot.app.screen.query("ContextTable"))
        await pilot.pause()
        table = pilot.app.screen.query_one(ContextTable)
        line = table.render_line(list(table.rows).index("3")).text
    assert len(line) == width
    assert "#3" in line
    assert "read_file" in line
    assert str(row.tokens) in line
    assert ("%" in line) == (width >= 100)
    assert ("src/config.py" in line) == (width >= 100)
    assert ("result" in line) == (width > 40)
    assert ("2h" in line) == (width > 40)

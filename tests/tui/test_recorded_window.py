"""Real recordings in the context panel: sorted, a range pinned, results masked, all undone."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from fakes.agent import stage
from fakes.recorded import recorded
from fakes.screen import make_app, until
from pinfold.adopt.detect import read
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.store import SessionStore
from pinfold.tui.panels.context import ContextPanel
from pinfold.tui.panels.context_table import ContextTable
from pinfold.window.overview import ItemRow

LARGE = ModelInfo("scripted-1", "scripted", 272_000, "config")


def shown(pilot: Pilot[str]) -> list[ItemRow]:
    table = pilot.app.screen.query_one(ContextTable)
    return [row for row in table.lines if isinstance(row, ItemRow)]


@pytest.mark.slow
@pytest.mark.parametrize("file", [*recorded("codex")[:2], *recorded("claude")[:2]])
async def test_a_recording_is_sorted_pinned_masked_and_put_back(file: Path, tmp_path: Path) -> None:
    adoption = read(file)

    def journal():  # type: ignore[no-untyped-def]
        store = SessionStore(tmp_path / "home")
        return store.adopt(adoption.events, tmp_path, "test", lambda: adoption.started_at)

    at = await stage(tmp_path, [], journal=journal, model=LARGE)
    session = at.session
    app = make_app(session)  # type: ignore[arg-type]
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app._session is not None)
        app.push_screen(ContextPanel(session))
        await until(pilot, lambda: app.screen.query(ContextTable) and shown(pilot))
        before, used = session.window.overview().rows, session.reading().used
        sizes = [row.tokens for row in shown(pilot)]
        assert sizes == sorted(sizes, reverse=True)

        await pilot.press("s", "s", "s")
        assert [row.n for row in shown(pilot)] == [row.n for row in before]
        await pilot.press("end", "v", "up", "up", "up", "p")
        await until(pilot, lambda: session.window.pins)
        assert len(session.window.pins) == 4

        await pilot.press("escape", "slash", *"result", "enter", "a", "m")
        await until(pilot, lambda: any(row.form == "masked" for row in shown(pilot)))
        held = {row.n for row in session.window.overview().rows if row.pin is not None}
        masked = {row.n for row in session.window.overview().rows if row.form == "masked"}
        assert not masked & held
        assert session.reading().used < used

        await pilot.press("z", "z")
        await until(pilot, lambda: not session.window.pins)
        after = session.window.overview().rows
        assert [(row.n, row.form, row.pin) for row in after] == [
            (row.n, row.form, row.pin) for row in before
        ]
    await session.close()

"""The lines in which one writes what to look for."""

from collections.abc import Callable

import pytest
from textual.screen import ModalScreen
from textual.widgets import Input

from fakes.live_session import live_session
from fakes.screen import make_app, type_fast, until
from pinfold.tui.panels.chooser import Chooser
from pinfold.tui.panels.picker import Choice, Picker


@pytest.mark.parametrize(
    "panel",
    [lambda: Picker("Sessions", [Choice("a", "greet")]), lambda: Chooser("Sessions", "")],
    ids=["picker", "chooser"],
)
async def test_keys_typed_fast_keep_their_order(
    panel: Callable[[], ModalScreen[str | None]],
) -> None:
    session = live_session()
    async with make_app(session).run_test() as pilot:
        await until(pilot, lambda: session.approver)
        pilot.app.push_screen(panel())
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        field = pilot.app.screen.query_one(Input)
        type_fast(pilot, *"stash", *["backspace"] * 5, *"reet", "home", "g")
        await until(pilot, lambda: field.value == "greet")

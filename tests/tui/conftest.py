"""What tests of screens share."""

import pytest
from textual._compositor import Compositor

from fakes.quick_screens import quick_screens, render_update


@pytest.fixture(autouse=True)
def _quick_screens(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_screens(monkeypatch)


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch, _quick_screens: None) -> None:
    """The screen is painted after each key, as with a terminal."""
    monkeypatch.setattr(Compositor, "render_update", render_update)

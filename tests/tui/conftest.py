"""What tests of screens share."""

import pytest

from fakes.quick_screens import quick_screens


@pytest.fixture(autouse=True)
def _quick_screens(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_screens(monkeypatch)

from pathlib import Path

import pytest

from fakes.skills import Ground, user_home


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    user_home(tmp_path, monkeypatch)
    return Ground(tmp_path)

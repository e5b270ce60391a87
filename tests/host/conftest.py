from argparse import Namespace
from pathlib import Path

import pytest

from pinfold.host.app_context import AppContext, app_context


@pytest.fixture
def ctx(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> AppContext:
    """Launched in a repository, `project`, that nobody has trusted yet."""
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return app_context(Namespace(cd=str(tmp_path / "project")))

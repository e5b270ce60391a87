"""`pinfold` called in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pinfold.cli import run


@pytest.fixture
def say(home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Calls it with the words, checks the exit code, and returns all that it printed."""

    def says(*arguments: str, code: int = 0) -> str:
        assert run(arguments) == code
        told = capsys.readouterr()
        return told.out + told.err

    return says

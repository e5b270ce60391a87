"""Real recordings, which are no part of the project: a folder beside the repository."""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[2].parent / "shared" / "sessions"


def recorded(kind: str) -> list:
    """The recordings of a kind as test parameters; a skipped one where there are none."""
    folder = Path(os.environ.get("PINFOLD_SESSIONS") or _BESIDE) / kind
    found = sorted(folder.glob("*.json*"))
    if found:
        return [pytest.param(path, id=path.stem[-24:]) for path in found]
    reason = f"no recordings in {folder} (PINFOLD_SESSIONS names the folder)"
    return [pytest.param(folder, marks=pytest.mark.skip(reason=reason))]

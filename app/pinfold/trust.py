"""Folders whose own config file counts in full."""

import json
from pathlib import Path

from pinfold.rollout.files import write_atomic


def is_trusted(home: Path, folder: Path) -> bool:
    """Whether the user trusts `folder` or one above it."""
    trusted = _listed(home)
    return any(str(candidate) in trusted for candidate in (folder, *folder.parents))


def trust(home: Path, folder: Path) -> None:
    """Trust `folder` and what lies in it from now on. Raises `OSError`."""
    home.mkdir(parents=True, exist_ok=True)
    listed = sorted({*_listed(home), str(folder)})
    write_atomic(home / "trusted.json", json.dumps(listed, indent=1).encode())


def _listed(home: Path) -> set[str]:
    try:
        listed = json.loads((home / "trusted.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    return (
        {entry for entry in listed if isinstance(entry, str)} if isinstance(listed, list) else set()
    )

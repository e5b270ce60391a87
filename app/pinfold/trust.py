"""Folders that the user trusts, and texts in them that the user has accepted."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from pinfold.atomic_files import write_atomic
from pinfold.small_files import read

MAX_BYTES = 1_048_576
ACCEPTED = "accepted.json"


def is_trusted(home: Path, folder: Path) -> bool:
    """Whether the user trusts `folder` or one above it."""
    trusted = _listed(home)
    return any(str(candidate) in trusted for candidate in (folder, *folder.parents))


def trust(home: Path, folder: Path) -> None:
    """Trust `folder` and all in it. Raises `OSError`."""
    home.mkdir(parents=True, exist_ok=True)
    listed = sorted({*_listed(home), str(folder)})
    write_atomic(home / "trusted.json", msgspec.json.format(msgspec.json.encode(listed), indent=1))


def _listed(home: Path) -> set[str]:
    try:
        listed = msgspec.json.decode(read(home / "trusted.json", MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return set()
    return (
        {entry for entry in listed if isinstance(entry, str)} if isinstance(listed, list) else set()
    )


def accepted(home: Path) -> dict[str, str]:
    """Project files that the user has accepted, with the hash of the accepted text."""
    try:
        found = msgspec.json.decode(read(home / ACCEPTED, MAX_BYTES), type=dict[str, str])
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return {}
    return found


def accept(home: Path, texts: Mapping[str, str]) -> None:
    """Accept texts, by file and hash, in place of earlier ones. Raises `OSError`."""
    home.mkdir(parents=True, exist_ok=True)
    found = accepted(home) | dict(texts)
    write_atomic(home / ACCEPTED, msgspec.json.format(msgspec.json.encode(found), indent=1))

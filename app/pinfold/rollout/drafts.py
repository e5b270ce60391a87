"""What is being typed, kept in the session's `draft.json` so that a crash does not lose it."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from pinfold import atomic_files
from pinfold.sanitize import encodable


class Draft(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str = ""
    pasted: tuple[str, ...] = ()
    """Texts that were pasted into it."""


def save(folder: Path, text: str, pasted: Sequence[str] = ()) -> None:
    """Keep `text` as the draft; an empty one leaves no file. Raises `OSError`."""
    path = _path(folder)
    if text:
        draft = Draft(encodable(text), tuple(map(encodable, pasted)))
        atomic_files.write_atomic(path, msgspec.json.encode(draft))
    else:
        path.unlink(missing_ok=True)


def load(folder: Path) -> Draft:
    """The draft; empty where there is none or it can't be read."""
    try:
        return msgspec.json.decode(_path(folder).read_bytes(), type=Draft)
    except (OSError, ValueError):
        return Draft()


def _path(folder: Path) -> Path:
    return folder / "draft.json"

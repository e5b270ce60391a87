"""What is being typed, kept in the session's `draft.json` so that a crash does not lose it."""

from pathlib import Path

import msgspec

from pinfold.rollout import files


class _Draft(msgspec.Struct, frozen=True):
    text: str = ""


def save(folder: Path, text: str) -> None:
    """Keep `text` as the draft; an empty one leaves no file. Raises `OSError`."""
    path = _path(folder)
    if text:
        whole = text.encode("utf-8", "replace").decode()
        files.write_atomic(path, msgspec.json.encode(_Draft(whole)))
    else:
        path.unlink(missing_ok=True)


def load(folder: Path) -> str:
    """The draft; empty where there is none or it can't be read."""
    try:
        return msgspec.json.decode(_path(folder).read_bytes(), type=_Draft).text
    except (OSError, ValueError):
        return ""


def _path(folder: Path) -> Path:
    return folder / "draft.json"

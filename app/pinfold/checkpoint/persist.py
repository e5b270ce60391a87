"""`checkpoint_v1.json` beside the rollout: a copy for people and programs to read."""

from pathlib import Path

import msgspec

from pinfold.atomic_files import write_atomic
from pinfold.checkpoint.model import CheckpointV1

FILE = "checkpoint_v1.json"


def encode(checkpoint: CheckpointV1) -> bytes:
    """UTF-8 JSON, the keys of maps sorted: the same bytes on every platform."""
    line = msgspec.json.encode(checkpoint, order="deterministic")
    return msgspec.json.format(line, indent=2) + b"\n"


def save(folder: Path, checkpoint: CheckpointV1) -> None:
    """Replace the file in the session's `folder`. Raises `OSError`; then it is as it was."""
    write_atomic(folder / FILE, encode(checkpoint))


def load(folder: Path, seq: int) -> CheckpointV1 | None:
    """The checkpoint in `folder` if it is whole, of this schema, and of event `seq` or before."""
    try:
        found = msgspec.json.decode((folder / FILE).read_bytes(), type=CheckpointV1)
    except (OSError, ValueError, RecursionError):
        return None
    return found if found.seq <= seq else None

"""What a process that is killed leaves of its session."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from random import Random

from pinfold.rollout.journal import ROLLOUT

LOCK = "rollout.lock"


def take(folder: Path, to: Path) -> None:
    """Keep the files of a session as they are in this moment."""
    for path in folder.rglob("*"):
        if path.is_dir() or path.name == LOCK:
            continue
        target = to / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # it was written elsewhere meanwhile, and has its name
            # The rollout alone grows in its place.
            (shutil.copyfile if path.name == ROLLOUT else os.link)(path, target)


def put(taken: Path, folder: Path, rng: Random) -> None:
    """Have `folder` hold what was taken, and the beginning of the line that came next."""
    shutil.rmtree(folder)
    taken.rename(folder)
    rollout = folder / ROLLOUT
    last = rollout.read_bytes().splitlines()[-1]
    with rollout.open("ab") as file:
        file.write(last[: rng.randint(0, len(last) - 1)])

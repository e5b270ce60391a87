"""What is done to sessions, cut off before each of its steps to the disk.

    python -m fakes.cut_writes ROOT EVERY

`ROOT/home` holds a session with pictures and a fork of it. For each of append, fork, adopt, delete
and gc there are copies of it, `ROOT/append-0` ...: in each, a process of its own died just before
the step of that number, EVERY steps after the one before, until one comes through. Prints the name
of each and how its process ended.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from fakes.cut_compactions import Killer, forked
from fakes.pictures import picture, prompt
from fakes.sessions import ticking
from pinfold.adopt import detect
from pinfold.rollout import disk
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore

Act = Callable[[SessionStore, Path, Path], None]


def append(store: SessionStore, first: Path, fork: Path) -> None:
    with Journal.open(first, ticking()) as journal:
        journal.append(prompt(9, picture(8), picture(9)))


def fork(store: SessionStore, first: Path, fork: Path) -> None:
    store.fork(first, None, ticking())[0].close()


def adopt(store: SessionStore, first: Path, fork: Path) -> None:
    adoption = detect.read(first / "rollout.jsonl")
    store.adopt(adoption.events, Path("/w"), "0", ticking()).close()


def delete(store: SessionStore, first: Path, fork: Path) -> None:
    disk.delete(first, ticking())


def gc(store: SessionStore, first: Path, fork: Path) -> None:
    for folder in (first, fork):
        disk.clear(folder, ticking())


ACTS: tuple[Act, ...] = (append, fork, adopt, delete, gc)


def prepare(home: Path) -> None:
    store = SessionStore(home)
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(prompt(1, picture(1)), prompt(2, picture(2)))
    store.fork(journal.folder, None, ticking())[0].close()
    for folder in disk.folders(home):
        Blobs(folder).add(b"nothing refers to it" * 200)


def folders(home: Path) -> tuple[Path, Path]:
    """The session and its fork."""
    every = disk.folders(home)
    first = next(path for path in every if disk.forks_of(path.name, every))
    return first, next(path for path in every if path != first)


def cut(root: Path, act: Act, every: int) -> None:
    step, ended = 0, "SIGKILL"
    while ended == "SIGKILL":
        home = root / f"{act.__name__}-{step}"
        shutil.copytree(root / "home", home)
        killer, (first, other) = Killer(step), folders(home)

        def run(
            home: Path = home, first: Path = first, other: Path = other, killer: Killer = killer
        ) -> int:
            killer.armed = True
            sys.setprofile(killer)
            act(SessionStore(home), first, other)
            sys.setprofile(None)
            return 0

        ended = forked(run)
        print(home.name, ended)
        step += every


def main(root: Path, every: int) -> None:
    prepare(root / "home")
    for act in ACTS:  # in this process first: what it imports, the others have
        shutil.copytree(root / "home", root / "warm")
        act(SessionStore(root / "warm"), *folders(root / "warm"))
        shutil.rmtree(root / "warm")
    for act in ACTS:
        cut(root, act, every)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

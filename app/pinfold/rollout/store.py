"""All sessions of a user, each in its own folder: `sessions/YYYY/MM/DD/<id>/`."""

import shutil
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pinfold import atomic_files
from pinfold.rollout import forks, pictures, walking
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.events import SCHEMA, Event, SessionStarted
from pinfold.rollout.hold import Hold
from pinfold.rollout.journal import ROLLOUT, Journal, JournalError

if TYPE_CHECKING:
    from pinfold.rollout.summaries import SessionSummary

_CANDIDATES = 5
"""How many sessions an ambiguous id names."""


class SessionStore:
    """The sessions under `root`. Blocking."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def create(
        self, cwd: Path, version: str, now: Callable[[], datetime], source: str = "shell"
    ) -> Journal:
        """Begin a session; `source` as in `SessionStarted`. Raises `JournalError`."""
        folder = self._new_folder(now())
        started = SessionStarted(
            schema=SCHEMA, id=folder.name, cwd=str(cwd), version=version, source=source
        )
        return Journal.create(folder, started, now)

    def folders(self) -> Sequence[Path]:
        """The folders of all sessions, last used first."""
        return self._newest_first()

    def list(self, limit: int | None = None) -> "Sequence[SessionSummary]":
        """The sessions, last used first, each read from its rollout. A damaged one has a note."""
        from pinfold.rollout.summaries import summary

        every = map(summary, self._newest_first()[:limit])
        return [line for line in every if line is not None]

    def find(self, id_prefix: str) -> Path:
        """The folder of the one session whose id begins so. Raises `JournalError`."""
        found = [path for path in self._newest_first() if path.name.startswith(id_prefix)]
        match found:
            case [folder]:
                return folder
            case []:
                raise JournalError(f"There is no session whose id begins with “{id_prefix}”.")
        names = ", ".join(path.name for path in found[:_CANDIDATES])
        if len(found) > _CANDIDATES:
            names += f" and {len(found) - _CANDIDATES} more"
        raise JournalError(f"More than one session's id begins with “{id_prefix}”: {names}.")

    def last(self, cwd: Path | None = None) -> Path:
        """The session last used (in `cwd`, if given) that has a prompt. Raises `JournalError`."""
        from pinfold.rollout.disk import started
        from pinfold.rollout.summaries import listen

        for folder in self._newest_first():
            first = started(folder)
            here = cwd is None or (first is not None and first.cwd == str(cwd))
            if here and listen(folder).title:
                return folder
        raise JournalError(f"There is no earlier session{f' in {cwd}' if cwd else ''}.")

    def fork(
        self, folder: Path, at: int | None, now: Callable[[], datetime]
    ) -> tuple[Journal, int]:
        """Begin a session as a copy of the one in `folder` through item `at` (None: all of it).

        Returns its journal and the last item copied, which comes before `at` where a response
        would have been cut in two. Raises `JournalError`.
        """
        target = self._new_folder(now())
        n = forks.copy(folder, target, at, now)
        return Journal.open(target, now), n

    def rewind(self, folder: Path, prompt: int, now: Callable[[], datetime]) -> Journal:
        """Begin a session as a copy of the one in `folder` up to before the user's `prompt`.

        Raises `JournalError`.
        """
        target = self._new_folder(now())
        forks.copy_before(folder, target, prompt, now)
        return Journal.open(target, now)

    def fork_window(self, folder: Path, generation: int, now: Callable[[], datetime]) -> Journal:
        """Begin a session as a copy of the one in `folder`, in the window of that generation.

        Raises `JournalError`.
        """
        target = self._new_folder(now())
        forks.copy_window(folder, target, generation, now)
        return Journal.open(target, now)

    def adopt(
        self, adopted: Sequence[Event], cwd: Path, version: str, now: Callable[[], datetime]
    ) -> Journal:
        """Begin a session in `cwd` that holds the events of another, at the times that they have.

        Raises `JournalError`, and then there is no such session.
        """
        target = self._new_folder(now())
        try:
            atomic_files.make_folder(target)
            blobs = Blobs(target)
            # Held: until its rollout is there, nothing says that the rest is needed.
            with Hold(target, now), atomic_files.replacing(target / ROLLOUT) as file:
                for event in adopted:
                    if isinstance(event.data, SessionStarted):
                        event = _moved(event, target.name, cwd, version, adopted[-1].seq)  # noqa: PLW2901
                    file.write(pictures.written(event, blobs)[1] + b"\n")
        except OSError as error:
            shutil.rmtree(target, ignore_errors=True)
            raise JournalError(atomic_files.failure(target, error)) from error
        return Journal.open(target, now)

    def _new_folder(self, at: datetime) -> Path:
        from uuid6 import uuid7

        return self._root / "sessions" / f"{at:%Y}" / f"{at:%m}" / f"{at:%d}" / str(uuid7())

    def _newest_first(self) -> Sequence[Path]:
        used = sorted(
            ((at.mtime_ns, Path(at.path).name, at.path) for at in walking.places(self._root)),
            reverse=True,
        )
        return [self._root / path for *_, path in used]


def _moved(event: Event, session: str, cwd: Path, version: str, through: int) -> Event:
    """The first event of an adopted session, adapted to its new folder."""
    assert isinstance(event.data, SessionStarted)
    adopted = event.data.adopted and replace(event.data.adopted, through=through)
    data = replace(
        event.data,
        schema=SCHEMA,
        id=session,
        cwd=str(cwd),
        version=version,
        adopted=adopted,
        source="adopted",
    )
    return replace(event, data=data)

"""Where the sessions are that memories come from."""

import socket
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from pinfold.memories.records import Output
from pinfold.memories.statements import matching


class SessionFolders:
    """The sessions that memories come from, by the beginning of their ids."""

    def __init__(self, home: Path, outputs: Sequence[Output]) -> None:
        self.home = home
        self._outputs = {output.session_id: output for output in outputs}
        self._host = socket.gethostname()

    @cached_property
    def _folders(self) -> dict[str, Path]:
        return {path.name: path for path in self.home.glob("sessions/*/*/*/*")}

    def whole(self, session: str) -> str:
        """The whole id; empty if there is no such session, or more than one."""
        for known in (self._outputs, self._folders):
            if session in known:
                return session
            if found := matching(session, known):
                return found[0] if len(found) == 1 else ""
        return ""

    def path(self, session: str) -> Path | None:
        """The folder of the session's rollout; None if that is gone or on another machine."""
        whole = self.whole(session)
        row = self._outputs.get(whole)
        if row is not None and row.host == self._host:
            path = Path(row.rollout_path)
            if path.exists():
                return path.parent
        return self._folders.get(whole)

    def folder(self, session: str) -> str | None:
        """The folder that the session worked in; None if the session is gone, empty if unknown."""
        row = self._outputs.get(self.whole(session))
        if row is not None and row.host != self._host:
            return ""
        if self.path(session) is None:
            return None
        return row.cwd if row is not None else ""

"""Makes text fit to leave this machine: no secrets, absolute paths or names of homes."""

import getpass
import re
import socket
from contextlib import suppress
from functools import partial
from pathlib import Path

from pinfold.memories.source import safely
from pinfold.memories.team.sharing import Team

_SHARED_ACCOUNTS = {
    *("admin", "app", "build", "ci", "dev", "home", "node", "nobody", "postgres", "root"),
    *("runner", "test", "ubuntu", "user", "users", "vscode", "work"),
}
"""Names of homes that identify nobody, and occur in any text."""
_HOME = re.compile(r"(?:file:/*)?[/\\]+(?:home|Users)[/\\]+[^/\\\s\"'`:;,)]+", re.IGNORECASE)
_ABSOLUTE = re.compile(
    r"(?:file:/+|(?<![\w/.…~\\-])(?:(?<!:)/{2,}|/(?!/)|~[\w.-]*/|[A-Za-z]:[\\/]|\\\\))"
    r"[^\s\"'`<>|()\[\]{},;:*?]*"
)


class LeavingFilter:
    """Filters the texts of one session. Blocking."""

    def __init__(self, team: Team, cwd: Path) -> None:
        self._team = team
        self._cwd = cwd.resolve()
        roots = {str(team.root), str(team.folder), str(cwd), str(self._cwd)}
        # The longest first: one may be in another.
        self._below = [
            (Path(root), re.compile(rf"(?<![\w.-]){re.escape(root)}(?![\w.-])/*"))
            for root in sorted(roots, key=len, reverse=True)
        ]
        self._names = [
            re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", re.IGNORECASE)
            for name in _names()
        ]

    def text(self, text: str) -> str:
        """The filtered text; paths below the root become relative to it."""
        text = safely(text)
        for root, pattern in self._below:
            below = self._team.relative(root) or ""
            text = pattern.sub(partial(_relative, below), text)
        text = _ABSOLUTE.sub(_last, _HOME.sub("~", text))
        for name in self._names:
            text = name.sub("user", text)
        return text

    def file(self, name: str) -> str | None:
        """A statement's file, relative to the root; None if it is outside the shared folder."""
        return self._team.relative(self._cwd / name) or None

    def outside(self, name: str) -> bool:
        """Whether a path is outside the shared folder."""
        try:
            path = self._cwd / Path(name).expanduser()
            return self._team.relative(path) is None and not str(path).startswith(_SYSTEM)
        except (OSError, RuntimeError, ValueError):
            return True


_SYSTEM = ("/bin/", "/dev/", "/usr/")
"""Folders that contain no private files."""


def paths_in(command: str) -> list[str]:
    """The absolute, home and upward paths in a text."""
    return re.findall(
        r"(?<![\w./:])(?:~[\w.-]*/?|/|(?:\.\./?)+)[^\s\"'`<>|()\[\]{},;:*?]*", command
    )


def _names() -> set[str]:
    found = {socket.gethostname().partition(".")[0]}
    with suppress(KeyError, OSError, RuntimeError):  # of a user without a name or a home
        found |= {getpass.getuser(), Path.home().name}
    return {name for name in found if len(name) > 1 and name.casefold() not in _SHARED_ACCOUNTS}


def _relative(below: str, found: re.Match[str]) -> str:
    """The replacement of a path; `below` leads to it from the root."""
    slash = "/" if found[0].endswith("/") else ""
    return f"{below}{slash}" if below else "" if slash else "."


def _last(found: re.Match[str]) -> str:
    """The replacement of an absolute path: `…/name`; unchanged if it has one part only."""
    parts = [part for part in re.split(r"[/\\]+", found[0]) if part]
    if len(parts) < 2 and found[0].startswith("/"):
        return found[0]
    return f"…/{parts[-1]}" if len(parts) > 1 else "…"

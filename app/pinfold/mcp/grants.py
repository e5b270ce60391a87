"""Stores OAuth tokens in the system's keyring, or in a private file."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from pinfold.atomic_files import make_folder, write_atomic
from pinfold.mcp.definition import Definition
from pinfold.paths import shown
from pinfold.small_files import read

SERVICE = "pinfold"
MAX_BYTES = 1_000_000
KEYRING = b'"keyring"'
"""The file's content if the keyring has the grant."""


class Grant(Struct, frozen=True):
    """All that signs requests to one URL, and renews that. Values are the SDK's, as JSON."""

    tokens: dict[str, Any] = field(default_factory=dict)
    client: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] | None = None
    """Of the authorization server."""
    resource: dict[str, Any] | None = None
    expires_at: float | None = None
    """Seconds since 1970."""


class GrantFile:
    """The grant for one server at one URL. Blocking."""

    def __init__(self, folder: Path, definition: Definition, workspace: Path) -> None:
        """`definition` is expanded."""
        key = definition.key(workspace, definition.url)
        self.path = folder / "signed-in" / f"{key}.json"
        self._name = f"mcp-{key}"

    def read(self) -> Grant | None:
        try:
            content = read(self.path, MAX_BYTES)
        except OSError:
            return None
        if content.strip() == KEYRING:
            content = (_from_keyring(self._name) or "").encode()
        try:
            return msgspec.json.decode(content, type=Grant)
        except (ValueError, RecursionError):
            return None

    def write(self, grant: Grant) -> str:
        """Save it; where, for people. Raises `OSError`."""
        content = msgspec.json.encode(grant)
        make_folder(self.path.parent)
        if _into_keyring(self._name, content.decode()):
            write_atomic(self.path, KEYRING)
            return "in the system's keyring"
        write_atomic(self.path, content)
        return f"in {shown(self.path)}, which only you can read, as there is no keyring"

    def remove(self) -> bool:
        """Whether there was one."""
        there = self.path.exists()
        with suppress(OSError):
            if read(self.path, MAX_BYTES).strip() == KEYRING:
                _out_of_keyring(self._name)
            self.path.unlink()
        return there


def _from_keyring(name: str) -> str | None:
    with suppress(Exception):  # whatever a desktop's keyring makes of it
        import keyring

        return keyring.get_password(SERVICE, name)
    return None


def _into_keyring(name: str, text: str) -> bool:
    """Whether the keyring has it now."""
    with suppress(Exception):
        import keyring

        if keyring.get_keyring().priority <= 0:  # it keeps nothing
            return False
        keyring.set_password(SERVICE, name, text)
        return keyring.get_password(SERVICE, name) == text
    return False


def _out_of_keyring(name: str) -> None:
    with suppress(Exception):
        import keyring

        keyring.delete_password(SERVICE, name)

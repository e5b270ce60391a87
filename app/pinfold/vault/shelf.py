"""The vault on disk: `vault/<tool>/<session>/`, with an `entry.json` and one file per version.

The files beside a session (its agents, spilled results) are in `<version>.jsonl/`, under their own
names. All of them are compressed with zstd.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import Struct, field

from pinfold import atomic_files
from pinfold.adopt.formats.registry import LISTINGS
from pinfold.small_files import read

FOLDER = "vault"
LOCK = ".lock"
ENTRY = "entry.json"
SUFFIX = ".jsonl.zst"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_URI = "file://"
_ENTRY_BYTES = 16 * 2**20
"""Largest `entry.json`."""

FileStamp = tuple[int, int]
"""Bytes, and the time of the last change in nanoseconds."""


class VaultError(Exception):
    """The vault can't be used; `str()` is a plain sentence."""


class Version(Struct, frozen=True):
    """A copy of a session's file, up to its last complete line."""

    number: int
    size: int
    sha256: str
    source: str
    """The file that was copied, as `path_text` writes it."""
    stamp: FileStamp
    """The stamp of that file."""
    beside: dict[str, FileStamp] = field(default_factory=dict)
    """The files beside it, by their relative paths."""

    @property
    def file(self) -> str:
        return f"{self.number}{SUFFIX}"

    @property
    def original(self) -> Path | None:
        """The file that was copied; None if that is gone."""
        source = self.source
        if source.startswith(_URI):
            source = os.fsdecode(unquote_to_bytes(source.removeprefix(_URI)))
        path = Path(source)
        return path if path.exists() else None

    @property
    def used(self) -> float:
        """When it was last used, in seconds since 1970."""
        return self.stamp[1] / 1e9


class VaultEntry(Struct, frozen=True, kw_only=True):
    """A session of another tool."""

    tool: str
    session: str
    """Its id there, or a hash where that can't be a folder's name."""
    title: str = ""
    cwd: str = ""
    versions: tuple[Version, ...] = ()

    @property
    def newest(self) -> Version:
        return max(self.versions, key=lambda version: version.stamp[1])

    @property
    def used_at(self) -> datetime:
        return datetime.fromtimestamp(self.newest.used, UTC)


class Shelf:
    """The entries of the vault in `home`. Blocking."""

    def __init__(self, home: Path) -> None:
        self.root = home / FOLDER

    def folder(self, tool: str, session: str) -> Path:
        return self.root / tool / session

    def file(self, entry: VaultEntry, version: Version | None = None) -> Path:
        """The file of a version, the newest by default."""
        return self.folder(entry.tool, entry.session) / (version or entry.newest).file

    def beside(self, entry: VaultEntry, version: Version) -> Path:
        """The folder of the files beside a version."""
        return self.folder(entry.tool, entry.session) / f"{version.number}.jsonl"

    def entries(self) -> Iterator[VaultEntry]:
        """All entries, in no order. Unreadable ones are left out."""
        for tool in LISTINGS:
            for name in _names(self.root / tool):
                entry = self.entry(tool, name)
                if entry is not None:
                    yield entry

    def entry(self, tool: str, session: str) -> VaultEntry | None:
        with suppress(OSError, ValueError):
            content = read(self.folder(tool, session) / ENTRY, _ENTRY_BYTES)
            entry = msgspec.json.decode(content, type=VaultEntry)
            if entry.versions and (entry.tool, entry.session) == (tool, session):
                return entry
        return None

    def find(self, prefix: str) -> list[VaultEntry]:
        """The entries whose session's id begins with `prefix`."""
        return [entry for entry in self.entries() if entry.session.startswith(prefix)]

    def save(self, entry: VaultEntry) -> None:
        """Raises `OSError`."""
        folder = self.folder(entry.tool, entry.session)
        atomic_files.write_atomic(folder / ENTRY, msgspec.json.encode(entry))

    def size(self, entry: VaultEntry) -> int:
        """Bytes on disk, all versions included."""
        found = 0
        for at, _, names in os.walk(self.folder(entry.tool, entry.session)):
            for name in names:
                with suppress(OSError):
                    found += (Path(at) / name).lstat().st_size
        return found

    def remove(self, entry: VaultEntry, *, for_good: bool) -> None:
        """Remove an entry: `for_good`, or until its session is used again. Raises `OSError`."""
        seen = {} if for_good else {version.source: version.stamp for version in entry.versions}
        mark = self._mark(entry.tool, entry.session)
        atomic_files.make_folder(mark.parent)
        atomic_files.write_atomic(mark, msgspec.json.encode(seen))
        folder = self.folder(entry.tool, entry.session)
        (folder / ENTRY).unlink(missing_ok=True)
        shutil.rmtree(folder)

    def is_unwanted(self, tool: str, session: str, source: str, stamp: FileStamp) -> bool:
        """Whether the session of that file was removed, and must not be copied again yet."""
        try:
            content = read(self._mark(tool, session), _ENTRY_BYTES)
        except OSError:
            return False
        try:
            seen = msgspec.json.decode(content, type=dict[str, FileStamp])
        except ValueError:
            return True
        return not seen or seen.get(source) == stamp

    def _mark(self, tool: str, session: str) -> Path:
        return self.root / "removed" / tool / session


def name_of(tool: str, stem: str) -> str:
    """The folder's name for a session whose file has this stem: its id if possible."""
    session = LISTINGS[tool].session_of(stem)
    return session if _SAFE.fullmatch(session) else hashlib.sha256(os.fsencode(session)).hexdigest()


def path_text(path: Path) -> str:
    """An absolute path as text: a URI if its bytes are no UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return path.as_uri()
    return str(path)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []

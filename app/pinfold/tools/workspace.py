"""The files that the agent works on. Nothing else in `tools/` stats, hashes or writes one."""

import difflib
import errno
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple

from pinfold.ports.tool import Observation, ToolError
from pinfold.rollout.blobs import Blobs, Sink
from pinfold.tools.text import DecodedText, NotText, decode

MAX_TEXT = 50_000_000
"""Bytes. Larger files are neither read nor edited as text."""
CHUNK = 1 << 20
SETTLED_NS = 2_000_000_000
"""The coarsest resolution of a file system's timestamps."""


def resolve(path: str, workspace: Path) -> Path:
    """The real path of what a model wrote: `~` and `..` worked out, symlinks followed."""
    if not path or "\0" in path:
        raise ToolError(f"{path!r} is not a path.")
    try:
        resolved = (workspace / Path(path).expanduser()).resolve()
    except (RuntimeError, OSError) as error:
        raise ToolError(f"{path}: {error}") from error
    # From 3.13 on, a loop of links is left in the path instead of raising.
    if any(part.is_symlink() for part in (resolved, *resolved.parents)):
        raise ToolError(f"{path}: its links form a loop.")
    return resolved


def inside(path: Path, workspace: Path) -> bool:
    """Whether a resolved path is in the workspace."""
    return path.is_relative_to(workspace)


def uri(path: Path, workspace: Path) -> str:
    """A resolved path as the journal names it: relative to the workspace, absolute outside it."""
    return (path.relative_to(workspace) if inside(path, workspace) else path).as_posix()


def size_text(size: int) -> str:
    """A number of bytes for people."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


# Hashes


def blob_hash(data: bytes) -> str:
    """Git's hash of a blob, as `git hash-object --no-filters` gives it."""
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def hash_file(path: Path) -> str:
    """Git's hash of a file of any size. Raises `ToolError`."""
    try:
        with path.open("rb") as source:
            return _digest(source, None)
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from error


def _digest(source: IO[bytes], copy: Sink | None) -> str:
    size = os.fstat(source.fileno()).st_size
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        if copy:
            copy.write(chunk)
    return digest.hexdigest()


def observe_output(call_id: str, output: str) -> Observation:
    """A tool's output as an artifact of its own; the session adds it to every call."""
    return Observation(f"call:{call_id}", "tool_output", "run", _hash_text(output))


def observe_command(command: str, output: str) -> Observation:
    """A command that ran; the hash is that of its output as the model gets it.

    That is cut and has the exit code and the seconds in it: the hash tells one run from another
    and can be checked against the journal.
    """
    return Observation(f"cmd:{command}", "command", "run", _hash_text(output))


def _hash_text(text: str) -> str:
    return blob_hash(text.encode(errors="surrogatepass"))


# Reading


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file as it was read."""

    path: Path
    uri: str
    hash: str
    text: DecodedText


class NotTextFile(ToolError):
    """There is a file, but it is binary or too large to take as text."""


def exists(path: Path) -> bool:
    return os.path.lexists(path)


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def file_mode(path: Path) -> int:
    """The permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)


class Stamp(NamedTuple):
    """Shows whether a file was touched, without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    """A copy may bring an old time of change along, but not one of its status."""
    inode: int

    def before(self, at: datetime) -> bool:
        """Whether a change after `at` would have another stamp."""
        return max(self.mtime_ns, self.ctime_ns) + SETTLED_NS < at.timestamp() * 1e9


def stamp(uri: str, workspace: Path) -> Stamp | None:
    """The stamp of a regular file, named as the journal does; none where there is no such file.

    Raises `OSError` where nobody can tell.
    """
    try:
        # There may be thousands, and pathlib takes twice the time.
        status = os.stat(os.path.join(workspace, uri))  # noqa: PTH116, PTH118
    except (FileNotFoundError, NotADirectoryError, ValueError):  # no name of a file has a NUL
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    if not stat.S_ISREG(status.st_mode):
        return None
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def require_file(path: Path, workspace: Path) -> int:
    """The size of a regular file in bytes. Raises `ToolError` for anything else."""
    name = uri(path, workspace)
    try:
        status = path.stat()
    except FileNotFoundError:
        raise ToolError(f"{name} does not exist.{_similar(path, workspace)}") from None
    except OSError as error:
        raise ToolError(f"{name}: {error.strerror}") from error
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"{name} is a folder; list_dir shows what is in it.")
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{name} is a device, pipe or socket, not a file.")
    return status.st_size


def _similar(path: Path, workspace: Path) -> str:
    try:
        names = [one.name for one in path.parent.iterdir()]
    except OSError:
        return ""
    close = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {uri(path.parent / close[0], workspace)}?" if close else ""


def entries(folder: Path, workspace: Path) -> list[str]:
    """A folder's entries for people, folders first. Raises `ToolError` where there is none."""
    try:
        with os.scandir(folder) as scan:
            found = sorted(scan, key=lambda entry: (not entry.is_dir(), entry.name))
            return [_entry(one) for one in found]
    except NotADirectoryError:
        raise ToolError(f"{uri(folder, workspace)} is a file; read_file reads it.") from None
    except FileNotFoundError:
        raise ToolError(
            f"{uri(folder, workspace)} does not exist.{_similar(folder, workspace)}"
        ) from None
    except OSError as error:
        raise ToolError(f"{uri(folder, workspace)}: {error.strerror}") from error


def _entry(entry: os.DirEntry[str]) -> str:
    name = entry.name + "/" * entry.is_dir()
    if entry.is_symlink():
        return f"{name} -> {Path(entry.path).readlink()}"
    return name if entry.is_dir() else f"{name}  {size_text(entry.stat().st_size)}"


def scanned(folder: Path | str) -> list[os.DirEntry[str]]:
    """A folder's entries; none where it can't be read."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def read_text(path: Path, workspace: Path) -> TextFile:
    """A text file. Raises `NotTextFile`, or `ToolError` where there is no file."""
    name, size = uri(path, workspace), require_file(path, workspace)
    if size > MAX_TEXT:
        raise NotTextFile(
            f"{name} has {size_text(size)}, too much to read as text; use grep, "
            "or read a part of it with a shell command."
        )
    try:
        data = path.read_bytes()
        return TextFile(path, name, blob_hash(data), decode(data))
    except NotText as error:
        raise NotTextFile(f"{name} is not text: {error}, {size_text(size)}.") from error
    except OSError as error:
        raise ToolError(f"{name}: {error.strerror}") from error


# Writing


def write(path: Path, data: bytes, mode: int | None = None) -> None:
    """Put `data` in place of a resolved path: others see the old file or the new one whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as target:
            target.write(data)
            target.flush()
            _keep_owner(path, descriptor)
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _keep_owner(path: Path, descriptor: int) -> None:
    with suppress(FileNotFoundError, PermissionError):
        status = path.stat()
        os.fchown(descriptor, status.st_uid, status.st_gid)


def save(path: Path, folder: Path) -> str:
    """Keep a file's bytes under `blobs/` of the session's folder, once; their hash."""
    hashed = hash_file(path)
    blobs = Blobs(folder)
    if not blobs.has(hashed):
        with path.open("rb") as source, blobs.writing(hashed) as copy:
            if _digest(source, copy) != hashed:
                raise ToolError(f"{path} changed while it was being read.")
    return hashed


def restore(hashed: str, folder: Path, path: Path, mode: int | None = None) -> None:
    """Write the bytes that `save` kept back to `path`."""
    data = Blobs(folder).read(hashed)
    if data is None:
        raise OSError(errno.ENOENT, "the saved content is lost or damaged")
    write(path, data, mode)

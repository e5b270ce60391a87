"""`projection.bin`: a cache of the projections of a rollout, so that a session opens at once.

It can be deleted at any time: if it is missing, damaged, outdated or of another rollout or version,
everything is folded from the first event on.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from pinfold import __version__, atomic_files
from pinfold.agent.projections import Dump, Projections
from pinfold.rollout.events import WindowReplaced
from pinfold.rollout.journal import Journal
from pinfold.settings import WireApi
from pinfold.tokens.counter import Counter
from pinfold.window.bodies import ItemLost

SCHEMA = 16
"""Goes up with every change of what is in the cache, or of how it is folded."""
NAME = "projection.bin"
WORTH = 262_144
"""Bytes of a rollout from which the cache saves more than it costs."""

_DIGEST = 32
_BLOCK = 1 << 20


class _Stamp(Struct, frozen=True, array_like=True):
    """Changes when a file is touched."""

    size: int
    mtime_ns: int
    inode: int


class _Kept(Struct, frozen=True, array_like=True):
    schema: int
    version: str
    session: str
    stamp: _Stamp
    prefix: bytes
    """Hash of the rollout up to the dump's offset."""
    dump: msgspec.Raw


def resume(journal: Journal, counter: Counter, wire_api: WireApi) -> Projections:
    """The projections of a journal: from the cache, as far as that goes. Raises `JournalError`."""
    dump = _load(journal)
    if dump is not None:
        with suppress(ItemLost, ValueError, KeyError):
            return fold(journal, counter, wire_api, dump)
    return fold(journal, counter, wire_api, None)


def fold(journal: Journal, counter: Counter, wire_api: WireApi, dump: Dump | None) -> Projections:
    """The projections of a journal, from `dump` and what follows it.

    Raises `JournalError`, and where the dump does not fit `Lost`, `ValueError`, `KeyError`.
    """
    projections = Projections(counter, wire_api, journal=journal)
    if dump is not None:
        projections.load(dump)
    for event in journal.read(projections.offset, projections.seq):
        projections.step(event)
        if isinstance(event.data, WindowReplaced):
            projections.window.settle()  # what left the window must not fill the memory
    projections.settle()
    return projections


def pack(projections: Projections) -> bytes | None:
    """The bytes for `save`; None if a cache is not worth it, or not possible."""
    if projections.offset < WORTH:
        return None
    try:
        return msgspec.msgpack.encode(projections.dump())
    except (ValueError, OverflowError):  # a lone surrogate, an integer beyond 64 bits
        return None


def save(journal: Journal, dump: bytes, offset: int) -> None:
    """Write what was packed up to `offset`. Blocking; if that fails, there is no cache."""
    with suppress(OSError):
        prefix = _hash(journal.path, offset)
        stamp = _stamp(journal.path)
        session = journal.started.id
        kept = _Kept(SCHEMA, __version__, session, stamp, prefix, msgspec.Raw(dump))
        content = msgspec.msgpack.encode(kept)
        atomic_files.write_atomic(journal.folder / NAME, _digest(content) + content)


def _load(journal: Journal) -> Dump | None:
    try:
        content = (journal.folder / NAME).read_bytes()
        body = memoryview(content)[_DIGEST:]
        if _digest(body) != content[:_DIGEST]:
            return None
        kept = msgspec.msgpack.decode(body, type=_Kept)
        mine = (kept.schema, kept.version, kept.session)
        if mine != (SCHEMA, __version__, journal.started.id):
            return None
        dump = msgspec.msgpack.decode(kept.dump, type=Dump)
        if dump.offset > journal.size:
            return None
        same = kept.stamp == _stamp(journal.path) or kept.prefix == _hash(journal.path, dump.offset)
    except (OSError, ValueError):
        return None
    return dump if same else None


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).digest()


def _stamp(path: Path) -> _Stamp:
    stat = path.stat()
    return _Stamp(stat.st_size, stat.st_mtime_ns, stat.st_ino)


def _hash(path: Path, end: int) -> bytes:
    """Of the first `end` bytes of a file."""
    hashed = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while end and (block := file.read(min(end, _BLOCK))):
            hashed.update(block)
            end -= len(block)
    return hashed.digest()

"""The pure function: the bytes of a session and settings as plain data, to the bytes of a result.

It returns the same bytes wherever it runs. Secrets are removed from a session first, so that this
can happen here and the rest elsewhere.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

import pinfold
from pinfold.adopt.adoption import NotASession
from pinfold.commands.failures import EXPECTED
from pinfold.compaction.strategies.registry import GROUP
from pinfold.many.content import read, redacted

WorkKind = Literal["digest", "eval", "export", "find", "gate"]
WorkSettings = dict[str, Any]
"""Plain data: texts, numbers, lists."""

_TASKS: dict[WorkKind, str] = {
    "digest": "pinfold.many.digest",
    "eval": "pinfold.many.evaluation",
    "export": "pinfold.many.export",
    "find": "pinfold.many.find",
    "gate": "pinfold.many.gate",
}
"""Modules with a `result(data, name, settings)`, imported when needed."""


class SessionWork(Struct, frozen=True):
    """What to do with each session."""

    kind: WorkKind
    settings: WorkSettings
    redact: bool = True

    def key(self, name: str, sha256: str) -> str:
        """Identifies a result: the same key means the same bytes."""
        parts = [self.kind, self.settings, self.redact, code_hash(), name, sha256]
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()


class Failed(Struct, frozen=True):
    """Why there is no result, in a sentence."""

    why: str


def perform(work: SessionWork, name: str, data: bytes) -> bytes:
    """The result for a session. A bad session may raise anything."""
    content = redacted(data) if work.redact else data
    task: Callable[[bytes, str, WorkSettings], bytes] = import_module(_TASKS[work.kind]).result
    return task(content, name, work.settings)


def attempt(work: SessionWork, name: str, data: bytes) -> bytes | Failed:
    """The result for a session, or why there is none: one bad session stops no other."""
    try:
        return perform(work, name, data)
    except EXPECTED as error:
        return Failed(str(error))
    except MemoryError:
        return Failed("It needs more memory than is available.")
    except Exception as error:  # a hostile session
        return Failed(f"This is a bug in pinfold: {type(error).__name__}: {error}")


def attempt_at(
    work: SessionWork, name: str, path: str, size: int, sha256: str
) -> bytes | Failed | None:
    """`attempt` on a shared file; None if this machine does not have the same one."""
    try:
        content = read(path)
    except (NotASession, OSError):
        return None
    if (len(content.data), content.sha256) != (size, sha256):
        return None
    return attempt(work, name, content.data)


@cache
def code_hash() -> str:
    """A hash of pinfold's source and of the strategies of other packages."""
    digest = hashlib.sha256(pinfold.__version__.encode())
    own = Path(pinfold.__file__).parent
    for path in sorted(own.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(own)).encode() + b"\0" + path.read_bytes())
    for point in sorted(entry_points(group=GROUP)):
        digest.update(f"{point.name} {point.value} {point.dist and point.dist.version}".encode())
        spec = find_spec(point.module.partition(".")[0]) and find_spec(point.module)
        if spec and spec.origin and Path(spec.origin).is_file():
            digest.update(Path(spec.origin).read_bytes())
    return digest.hexdigest()

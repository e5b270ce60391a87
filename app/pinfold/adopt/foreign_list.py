"""A list of the sessions of Codex and Claude Code on this machine.

Files may be large and many, so only the head is read, for the title, and the end, for the last
token count.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from heapq import heappop, heappush
from io import SEEK_END, BufferedReader
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from pinfold.adopt import codex_items
from pinfold.adopt.claude_records import blocks, flag, is_synthetic, usage
from pinfold.adopt.claude_words import by_host, typed
from pinfold.adopt.lines import number_of, object_of, opened, parse, text_of, time_of
from pinfold.rollout.acts import without
from pinfold.rollout.file_cache import FileCache, Key
from pinfold.rollout.summaries import title_of
from pinfold.tokens.catalog import look_up

Tool = Literal["codex", "claude"]

_HEAD = 4_000_000
"""Bytes at the head in which to look for a prompt."""
_LINE = 2_000_000
"""Bytes of one line, at most."""
_ENDS = (64_000, 512_000, 4_000_000)
"""Bytes at the end in which to look for a count: first, next, last."""
_TELLING = {
    "codex": (b'"token_count"', b'"turn_context"'),
    "claude": (b'"usage"', b'"compact_boundary"', b'-title"'),
}
"""Texts in lines at the end that are worth parsing."""


class ToolFolder(Struct, frozen=True):
    """Where a tool keeps its sessions."""

    tool: Tool
    folder: Path
    patterns: tuple[str, ...]


class FileSummary(Struct, omit_defaults=True):
    session: str = ""
    title: str = ""
    """The given name, else the first line of the first prompt."""
    cwd: str = ""
    model: str = ""
    used: int = 0
    """Tokens of the window after the last response, by the provider's count; 0: unknown."""
    limit: int = 0
    """Tokens of the context window; 0: unknown."""
    note: str = ""
    updated_at: datetime | None = None
    """The last time in the file."""


class ForeignSession(Struct, frozen=True, kw_only=True):
    """A session of another tool."""

    tool: Tool
    file: Path
    updated_at: datetime
    size: int
    """Bytes of the file."""
    session: str
    title: str
    cwd: str
    model: str
    used: int
    limit: int
    note: str

    @property
    def full(self) -> float | None:
        """The share of the context window that is used."""
        return self.used / self.limit if self.used and self.limit else None


def tool_folders(env: Mapping[str, str] = os.environ) -> tuple[ToolFolder, ...]:
    """Where to look: `CODEX_HOME` or `~/.codex`, `CLAUDE_CONFIG_DIR` or `~/.claude`."""
    codex = Path(os.path.expanduser(env.get("CODEX_HOME") or "~/.codex"))  # noqa: PTH111  never raises
    claude = Path(os.path.expanduser(env.get("CLAUDE_CONFIG_DIR") or "~/.claude"))  # noqa: PTH111
    dated, flat = "sessions/**/*.jsonl", "archived_sessions/*.jsonl"
    return (
        ToolFolder("codex", codex, (dated, f"{dated}.zst", flat, f"{flat}.zst")),
        ToolFolder("claude", claude, ("projects/*/*.jsonl",)),
    )


def files(place: ToolFolder) -> list[Path]:
    """The session files of a tool, unordered."""
    try:
        return [file for pattern in place.patterns for file in place.folder.glob(pattern)]
    except OSError:
        return []


def sessions(where: Iterable[ToolFolder], database: Path) -> Iterator[ForeignSession]:
    """The sessions, last used first, each as soon as no remaining file can be newer.

    `database` caches what was read.
    """
    read: list[tuple[float, str, ForeignSession]] = []
    aged: list[tuple[int, int, str, Tool]] = []
    for place in where:
        for file in files(place):
            try:
                stat = file.stat()
            except OSError:
                continue
            if stat.st_size:
                aged.append((stat.st_mtime_ns, stat.st_size, str(file), place.tool))
    cache = FileCache(database, "foreign_sessions", FileSummary)
    cached = cache.read()
    fresh: dict[Key, FileSummary] = {}
    try:
        for mtime_ns, size, path, tool in sorted(aged, reverse=True):
            while read and -read[0][0] >= mtime_ns / 1e9:
                yield heappop(read)[-1]
            key = (path, size, mtime_ns)
            summary = cached.get(key)
            if summary is None:
                summary = fresh[key] = head_and_end(tool, Path(path))
            changed = datetime.fromtimestamp(mtime_ns / 1e9, UTC)
            session = ForeignSession(
                tool=tool,
                file=Path(path),
                size=size,
                **asdict(summary) | {"updated_at": summary.updated_at or changed},
            )
            heappush(read, (-session.updated_at.timestamp(), path, session))
        while read:
            yield heappop(read)[-1]
    finally:
        cache.add(fresh)


def head_and_end(tool: Tool, path: Path) -> FileSummary:
    """What a file's first and last lines say about its session."""
    summary = FileSummary()
    hear = _codex if tool == "codex" else _claude
    try:
        with opened(path) as file:
            left = _HEAD
            for line in iter(partial(file.readline, _LINE), b""):
                _hear_line(hear, summary, line)
                left -= len(line)
                if summary.title or left < 0:
                    break
            for end in _ends(file):
                summary.updated_at = summary.updated_at or _last_time(end)
                for line in end:
                    if any(word in line for word in _TELLING[tool]):
                        _hear_line(hear, summary, line)
                if summary.used:
                    break
    except OSError as error:
        summary.note = f"can't be read: {error.strerror}"
    return summary


def _ends(file: BufferedReader) -> Iterator[list[bytes]]:
    """The last lines, then more of them. The first may be cut off and not be JSON."""
    if not file.seekable():
        rest = b""
        while block := file.read(_ENDS[-1]):
            rest = (rest + block)[-_ENDS[-1] :]
        yield rest.splitlines()
        return
    size = file.seek(0, SEEK_END)
    for length in _ENDS:
        file.seek(max(0, size - length))
        yield file.read().splitlines()
        if length >= size:
            return


def _last_time(lines: Sequence[bytes]) -> datetime | None:
    for line in reversed(lines):
        if b'"timestamp"' in line:
            with suppress(ValueError):
                record = parse(line)
                if isinstance(record, dict) and (at := time_of(record)):
                    return at
    return None


def _hear_line(hear: Any, summary: FileSummary, line: bytes) -> None:
    try:
        record = parse(line)
    except ValueError:
        return
    if isinstance(record, dict):
        hear(summary, record)


def _codex(summary: FileSummary, record: dict[str, Any]) -> None:
    payload = record.get("payload")
    kind = record.get("type")
    if not isinstance(payload, dict):
        payload, kind = record, "session_meta" if "id" in record else "response_item"
    match kind:
        case "session_meta" if not summary.session:
            summary.session, summary.cwd = text_of(payload, "id"), text_of(payload, "cwd")
            if isinstance(payload.get("source"), dict):
                summary.note = "sub-agent"
        case "turn_context":
            summary.model = text_of(payload, "model") or summary.model
        case "event_msg" if text_of(payload, "type") == "token_count":
            info = object_of(payload, "info")
            last = object_of(info, "last_token_usage")
            counted = number_of(last, "input_tokens") + number_of(last, "output_tokens")
            summary.used = number_of(last, "total_tokens") or counted or summary.used
            summary.limit = number_of(info, "model_context_window") or summary.limit
        case "response_item" if not summary.title:
            entry = codex_items.entry(payload)
            if entry is not None and entry.kind == "user":
                summary.title = title_of(without(entry.content, entry.detail.get("host", ())))


def _claude(summary: FileSummary, record: dict[str, Any]) -> None:
    summary.session = summary.session or text_of(record, "sessionId")
    summary.cwd = summary.cwd or text_of(record, "cwd")
    match record.get("type"):
        case "custom-title" | "ai-title" as kind:
            name = "customTitle" if kind == "custom-title" else "aiTitle"
            summary.title = title_of(text_of(record, name)) or summary.title
        case "user":
            if flag(record, "isSidechain"):
                summary.note = "sub-agent"
            if not summary.title and not flag(record, "isMeta"):
                summary.title = _prompt(record)
        case "assistant" if not is_synthetic(record):
            message = object_of(record, "message")
            summary.model = text_of(message, "model") or summary.model
            summary.limit = look_up(summary.model).context_window
            if (counted := usage(message)) and not flag(record, "isSidechain"):
                summary.used = counted.input + counted.output
        case "system" if record.get("subtype") == "compact_boundary":
            after = number_of(object_of(record, "compactMetadata"), "postTokens")
            summary.used = after or summary.used


def _prompt(record: dict[str, Any]) -> str:
    """The title from a user's message; empty if the host wrote it."""
    content = blocks(object_of(record, "message").get("content"))
    texts = (text_of(block, "text") for block in content if block["type"] == "text")
    users = (text for text in texts if text.strip() and not by_host(text))
    return title_of(typed(next(users, "")))

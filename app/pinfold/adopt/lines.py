"""Lines of JSON from files that may be torn, compressed or damaged."""

import errno
import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import msgspec

from pinfold.adopt.adoption import HALF_WRITTEN
from pinfold.adopt.builder import Builder

_ZSTD = b"\x28\xb5\x2f\xfd"
MAX_UNPACKED = 512 * 2**20
_EARLIEST, _LATEST = 0, 253_402_300_799

_decode = msgspec.json.Decoder().decode


def opened(path: Path, limit: int = MAX_UNPACKED) -> io.BufferedReader:
    """The bytes of a file, as `unpacked`. Raises `OSError`."""
    return unpacked(path.open("rb"), limit)


def unpacked(file: io.BufferedReader, limit: int = MAX_UNPACKED) -> io.BufferedReader:
    """The bytes of a file, unpacked if it is compressed with zstd.

    Reading raises `OSError` after `limit` unpacked bytes: a small file may hold gigabytes.
    """
    packed = file.read(len(_ZSTD)) == _ZSTD
    file.seek(0)
    if not packed:
        return file
    import zstandard

    reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=True)
    return io.BufferedReader(_Unpacked(reader, limit))


class _Unpacked(io.RawIOBase):
    """A stream that ends where the packed bytes are damaged."""

    def __init__(self, reader: IO[bytes], limit: int) -> None:
        self._reader = reader
        self._limit = limit
        self._left = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        import zstandard

        try:
            data = self._reader.read(len(buffer))
        except zstandard.ZstdError:
            return 0
        self._left -= len(data)
        if self._left < 0:
            limit = f"{self._limit // 2**20} MB" if self._limit >= 2**20 else f"{self._limit} bytes"
            raise OSError(errno.EFBIG, f"it unpacks to more than {limit}")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._reader.close()
        super().close()


def parse(line: bytes) -> Any:
    """The JSON value of a line. Raises `ValueError`.

    Lone surrogates and invalid UTF-8, which other tools do write, are replaced.
    """
    try:
        return _decode(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        if b"\\u" not in line and line.isascii():
            raise
    try:
        text = json.dumps(json.loads(line.decode("utf-8", "replace")), ensure_ascii=False)
        return _decode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def records(lines: Iterable[bytes], builder: Builder) -> Iterator[dict[str, Any]]:
    """The JSON objects, one per line; other lines are counted, a torn last line is noted."""
    torn = False
    for line in lines:
        if torn:
            builder.skip("unreadable line")
            torn = False
        if not line.strip():
            continue
        try:
            value = parse(line)
        except ValueError:
            torn = True
            continue
        if isinstance(value, dict):
            yield value
        else:
            builder.skip("line without an object")
    if torn:
        builder.note(HALF_WRITTEN)


def text_of(record: dict[str, Any], key: str) -> str:
    """The string under `key`, or an empty one."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def object_of(record: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under `key`, or an empty one."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def list_of(record: dict[str, Any], key: str) -> list[Any]:
    """The list under `key`, or an empty one."""
    value = record.get(key)
    return value if isinstance(value, list) else []


def number_of(record: dict[str, Any], key: str) -> int:
    """The whole number under `key` if it is positive, else 0."""
    value = record.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def time_of(record: dict[str, Any], key: str = "timestamp") -> datetime | None:
    """The time under `key`, as ISO text or seconds since 1970."""
    value = record.get(key)
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        if isinstance(value, int | float) and _EARLIEST < value < _LATEST:
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError):
        pass
    return None


def compact(value: Any) -> str:
    """A value as JSON text."""
    return msgspec.json.encode(value).decode()

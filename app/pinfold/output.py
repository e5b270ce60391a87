"""All that leaves on standard output and standard error.

Anyone who prints, prints through a guard: nothing gets out that would drive a terminal.
"""

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO, cast

from pinfold.sanitize import escaped, one_line, safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_UNBOUND = 100_000
"""More columns than any table has."""


class _Guarded:
    """A stream that makes all text safe."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(safe(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Guards both streams."""
    out, err = (cast("TextIO", _Guarded(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield


def _behind(stream: TextIO) -> TextIO:
    """The stream without its guard, for what is made safe here."""
    return stream.stream if isinstance(stream, _Guarded) else stream


def print_bytes(content: bytes) -> None:
    """A document on standard output, in UTF-8 wherever that goes."""
    stream = _behind(sys.stdout)
    stream.flush()
    stream.buffer.write(safe(content.decode("utf-8", "replace")).encode())


def print_json(value: object, *, indented: bool = False) -> None:
    """A value on standard output; `bytes` are JSON already."""
    import msgspec

    content = value if isinstance(value, bytes) else _encoded(value)
    if indented:
        content = msgspec.json.format(content)
    print(escaped(content.decode().rstrip("\n")))


def _encoded(value: object) -> bytes:
    import json

    import msgspec

    try:
        return msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:  # as of a file whose name is no text
        plain = msgspec.to_builtins(value, enc_hook=str)
        return escaped(json.dumps(plain, ensure_ascii=False)).encode()


def print_table(table: "RenderableType", *, whole: bool = False, width: int | None = None) -> None:
    """A table on standard output, as wide as the terminal or `width` columns; a `whole` one as
    wide as it is, for whoever filters its lines."""
    from rich.console import Console
    from rich.measure import Measurement
    from rich.segment import Segment, Segments

    stream = _behind(sys.stdout)
    console = Console(file=stream, width=width, markup=False, emoji=False, highlight=False)
    if whole:
        options = console.options.update(width=_UNBOUND)
        wanted = Measurement.get(console, options, table).maximum
        console.width = max(console.width, wanted)
    segments = console.render(table)
    clean = [Segment(safe(text), style) for text, style, control in segments if not control]
    if console.is_terminal:
        console.print(Segments(clean), end="")
    else:
        lines = "".join(segment.text for segment in clean).splitlines()
        stream.write("".join(f"{line.rstrip()}\n" for line in lines))


def progress_console() -> "Console":
    """Standard error for moving bars. What is written on it must be pinfold's own."""
    from rich.console import Console

    return Console(file=_behind(sys.stderr))


def is_watched() -> bool:
    """Whether somebody sees on standard error how far something is."""
    return sys.stderr.isatty()


def print_progress(text: str) -> None:
    """How far something is, where it is watched, in place of what was said before."""
    if not is_watched():
        return
    stream = _behind(sys.stderr)
    width = shutil.get_terminal_size().columns - 1
    stream.write(f"\r\x1b[K{one_line(text)[:width]}")
    stream.flush()


def end_progress() -> None:
    """Remove that line."""
    if not is_watched():
        return
    stream = _behind(sys.stderr)
    stream.write("\r\x1b[K")
    stream.flush()

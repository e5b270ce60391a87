"""All that is printed on standard output and standard error.

It passes a guard, so that nothing printed can drive a terminal.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

from pinfold.sanitize import escaped, one_line, safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_UNBOUND = 100_000
"""More columns than any table has."""


class _Guarded:
    """A stream that makes text safe before it writes it."""

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
    """Guard both streams."""
    out, err = (cast("TextIO", _Guarded(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield


def _behind(stream: TextIO) -> TextIO:
    """The stream without its guard, for text that is made safe here."""
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


def print_table(table: RenderableType, *, whole: bool = False, width: int | None = None) -> None:
    """A table on standard output, as wide as the terminal or `width` columns; a `whole` one takes
    as many columns as it needs."""
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


def print_rows(
    headings: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Collection[str] = ()
) -> None:
    """A table on standard output; the columns that `right` names are aligned right.

    On a narrow terminal the last column is cut. Whoever filters the lines gets all of it.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in right else "left"
        table.add_column(heading, no_wrap=heading != headings[-1], justify=justify)
    for row in rows:
        *cells, last = (Text(cell) if isinstance(cell, str) else cell for cell in row)
        last.overflow, last.no_wrap = "ellipsis", True
        table.add_row(*cells, last)
    print_table(table, whole=not sys.stdout.isatty())


def warn(text: str) -> None:
    """A line of pinfold's own on standard error."""
    print(f"pinfold: {one_line(text)}", file=sys.stderr)


def progress_console() -> Console:
    """Standard error, for progress bars; without a guard, so write pinfold's own texts alone."""
    from rich.console import Console

    return Console(file=_behind(sys.stderr))


def is_watched() -> bool:
    """Whether standard error is a terminal, so that progress is seen."""
    return sys.stderr.isatty()


def print_progress(text: str) -> None:
    """Replace the line of progress, where it is watched."""
    if not is_watched():
        return
    stream = _behind(sys.stderr)
    width = shutil.get_terminal_size().columns - 1
    stream.write(f"\r\x1b[K{one_line(text)[:width]}")
    stream.flush()


def end_progress() -> None:
    """Remove the line of progress."""
    if not is_watched():
        return
    stream = _behind(sys.stderr)
    stream.write("\r\x1b[K")
    stream.flush()

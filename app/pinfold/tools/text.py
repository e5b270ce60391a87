"""Bytes to text and back, so that an edit changes nothing but what it names."""

import codecs
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (WebP, WAV, AVI)"),
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"(\xb5/\xfd", "zstd data"),
    (b"\x7fELF", "an ELF binary"),
    (b"SQLite format 3\0", "a SQLite database"),
)
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CONTROL = bytes(set(range(0x20)) - set(b"\t\n\r\f\x08\x1b")) + bytes(range(0x7F, 0xA0))


class NotText(ValueError):
    """The bytes are no text; `str()` says what they are."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """The text of a file, with what is needed to write it back as it was."""

    content: str
    """With `\\n` as the only line end."""
    raw: str
    """As decoded."""
    codec: str
    bom: bytes

    def encode(self, content: str) -> bytes:
        """`content` with this file's line ends, in its encoding. Raises `ValueError`."""
        return self.encode_as_is(with_line_ends(self.raw, content))

    def encode_as_is(self, text: str) -> bytes:
        """`text` in this file's encoding. Raises `ValueError` if that cannot hold it."""
        try:
            return self.bom + text.encode(self.codec)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise ValueError(f"the file is {self.codec} and cannot hold {character!r}") from error

    @property
    def marks(self) -> list[str]:
        """What is unusual about the file, in words."""
        crlf = self.raw.count("\r\n")
        ends = "CRLF line ends" if crlf == self.raw.count("\n") else "mixed line ends"
        name = self.codec + (" with BOM" if self.bom else "")
        return [ends] * bool(crlf) + [name] * (name != "utf-8")


def decode(data: bytes) -> DecodedText:
    """The text of a file's bytes. Raises `NotText`."""
    for start, what in MAGIC:
        if data.startswith(start):
            raise NotText(what)
    for bom, codec in BOMS:
        if data.startswith(bom):
            return _decode(data, bom, codec)
    if b"\0" in data:
        raise NotText("binary data (it has NUL bytes)")
    try:
        return _decode(data, b"", "utf-8")
    except NotText:
        if len(data.translate(None, CONTROL)) < 0.9 * len(data):
            raise NotText("binary data (neither UTF-8 nor printable)") from None
        return _decode(data, b"", "latin-1")


def _decode(data: bytes, bom: bytes, codec: str) -> DecodedText:
    try:
        raw = data[len(bom) :].decode(codec)
    except UnicodeDecodeError as error:
        raise NotText(f"broken {codec} at byte {error.start + len(bom)}") from error
    if "\0" in raw:
        raise NotText("binary data (it has NUL characters)")
    return DecodedText(unix(raw), raw, codec, bom)


def unix(text: str) -> str:
    """`text` with `\\n` for every `\\r\\n`."""
    return text.replace("\r\n", "\n")


def with_line_ends(raw: str, content: str) -> str:
    """`content` with the line ends of `raw`: a line that stays keeps its own."""
    crlf = raw.count("\r\n")
    if not crlf:
        return content
    if crlf == raw.count("\n"):
        return content.replace("\n", "\r\n")
    before = raw.split("\n")
    ends = ["\r\n" if line.endswith("\r") else "\n" for line in before[:-1]]
    lines = content.split("\n")
    matcher = SequenceMatcher(None, unix(raw).split("\n"), lines)
    result: list[str] = []
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        # A line that is new in this place ends as the line before it does.
        last = ends[min(max(i1 - 1, 0), len(ends) - 1)]
        for line, end in zip_longest(lines[j1:j2], ends[i1:i2][: j2 - j1]):
            last = end or last
            result += (line, last)
    # What follows the last line end is no whole line.
    return "".join(result[:-1])

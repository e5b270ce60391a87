"""Text from models and tools, made safe to draw: it never drives the terminal."""

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS and their kin, up to their end
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n])")
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code < 0xA0 or 0xD800 <= code <= 0xDFFF:
        return "�"
    if code in {0x200B, 0x2060, 0xFEFF}:
        return ""
    return "⇄" if code < 0xE0000 else "�"


def clean(text: str) -> str:
    """`text` with tabs expanded and every control character as a visible symbol.

    Only line feeds stay. Bidirectional overrides are shown as `⇄`, lone surrogates and
    invisible tags as `�`.
    """
    if not _UNSAFE.search(text):
        return text
    text = text.replace("\r\n", "\n")
    if "\t" in text:
        text = text.expandtabs(4)
    return _UNSAFE.sub(_symbol, text)


def clean_output(text: str) -> str:
    """What a command printed, as a terminal would have left it: no colours, no overwritten text."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text.replace("\r\n", "\n"))
    return clean(text)


def one_line(text: str) -> str:
    """`text` on one line, safe to draw."""
    return " ".join(clean(text).split())

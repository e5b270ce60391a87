"""Makes text from outside safe to show: no control of the terminal, no invisible tricks."""

import re
from collections.abc import Callable

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS and their kin, up to their end
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n])")
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line feed
    "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
_JOINERS = "\u200c\u200d"
_TURNING = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What sets the direction of writing, or ends a line."""
_TAGS = re.compile("[\U000e0000-\U000e007f]")


def _joins(match: re.Match[str]) -> bool:
    """Whether it joins letters or pictures, as in Persian, Hindi and emoji; ASCII knows none."""
    before = match.string[match.start() - 1 : match.start()]
    return match.group() in _JOINERS and before > "\x7f" and not _UNSAFE.match(before)


def is_safe(text: str) -> bool:
    """Whether it can be shown as it is."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return True  # most texts, found sooner
    return all(map(_joins, _UNSAFE.finditer(text)))


def replaced(text: str, symbol: Callable[[str], str]) -> str:
    """`text` with `symbol` for each character in it that is not safe."""
    return _UNSAFE.sub(lambda match: match[0] if _joins(match) else symbol(match[0]), text)


def safe(text: str) -> str:
    """`text` with every control character as a visible symbol, but for tabs and line feeds.

    What changes the direction of writing is shown as `⇄`, lone surrogates and invisible tags as
    `�`; what has no width is left out.
    """
    return text if is_safe(text) else replaced(text.replace("\r\n", "\n"), _symbol)


def _symbol(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if _TURNING.match(character):
        return "⇄"
    return "�" if code < 0xA0 or 0xD800 <= code <= 0xDFFF or _TAGS.match(character) else ""


def clean(text: str) -> str:
    """`text` as `safe` makes it, with tabs expanded."""
    if "\t" in text:
        text = text.replace("\r\n", "\n").expandtabs(4)
    return safe(text)


def clean_output(text: str) -> str:
    """What a command printed, as a terminal would have left it: no colours, no overwritten text."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text.replace("\r\n", "\n"))
    return clean(text)


def one_line(text: str, longest: int | None = None) -> str:
    """`text` on one line, safe to draw; cut to `longest` characters where there are more."""
    line = " ".join(clean(text).split())
    return line if longest is None or len(line) <= longest else f"{line[: longest - 1]}…"


def encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 can't encode, by `?`."""
    return text.encode("utf-8", "replace").decode()


def escaped(json: str) -> str:
    """A JSON text that says the same, with escapes for what `safe` would replace.

    A lone surrogate becomes U+FFFD: readers refuse it.
    """
    return json if is_safe(json) else replaced(json.replace("\r\n", "\n"), _escape)


def _escape(character: str) -> str:
    if 0xD800 <= ord(character) <= 0xDFFF:
        return "\\ufffd"
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

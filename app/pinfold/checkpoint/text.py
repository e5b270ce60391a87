"""Text of the checkpoint: on one line, and of bounded length."""

import re

# Named one by one: what `str.isprintable` says changes with the version of Python.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def one_line(text: str) -> str:
    """`text` with line ends, control and invisible characters folded into single spaces."""
    return " ".join(_UNSEEN.sub(" ", text).split())


def clip(text: str, limit: int) -> str:
    """`text`, or its first `limit - 1` characters and `…`."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def short(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters. Of a very long one only the head counts."""
    return clip(one_line(text.lstrip()[: 4 * limit]), limit)

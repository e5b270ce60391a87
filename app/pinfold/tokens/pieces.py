"""Where a text may be cut so that the tokens of its pieces add up to those of the whole.

tiktoken splits a text by a pattern before it looks for tokens, and no part of a split reaches
over these places: after a line end when neither white space nor `/` follows, and before a single
space between two other characters. Holds for o200k_base and cl100k_base.
"""

import re
from collections.abc import Iterator

LIMIT = 16_384
"""Characters of a piece: at most 64 KB, where tiktoken is quick whatever the text."""

_NEAR = 2_000
"""Characters before the limit where most texts have a cut."""

_CUT = re.compile(r"(?<=\n)(?=[^\s/])|(?<=\S)(?= \S)")


def last_cut(text: str, start: int, end: int) -> int:
    """The last cut from `start` through `end`, as an index into `text`; 0 if there is none."""
    cut = 0
    for match in _CUT.finditer(text, start, end + 2):
        if match.start() <= end:
            cut = match.start()
    return cut


def pieces(text: str) -> Iterator[str]:
    """`text` in pieces of at most `LIMIT`.

    A stretch without a cut is cut at `LIMIT`, which may add a few tokens each time.
    """
    start = 0
    while len(text) - start > LIMIT:
        end = start + LIMIT
        cut = last_cut(text, end - _NEAR, end) or last_cut(text, start + 1, end) or end
        yield text[start:cut]
        start = cut
    yield text[start:]

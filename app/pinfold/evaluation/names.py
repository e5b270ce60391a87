"""Names in text: what a later step may need to the letter.

- path: holds a `/` and either begins with `/`, `~`, `.`, has two of them, or a `.`, `_`, `-` or
  digit; or is a word with a known file ending. Paths below the working directory become relative.
- url: `http://` or `https://` and what follows.
- hash: 7 to 40 hexadecimal digits, one of them a digit, or a UUID.
- issue: `#` and up to six digits.
- identifier: snake_case, camelCase or CONST_CASE, of at least six characters.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, repeat
from typing import Literal

from msgspec import Struct

from pinfold.rollout.arguments import parsed, strings
from pinfold.rollout.items import Item

NameKind = Literal["path", "url", "hash", "issue", "identifier"]

MAX_SCANNED_CHARS = 65_536
"""In a longer text only the head and the tail are scanned."""

_ENDINGS = (
    "astro|bash|c|cc|cfg|cjs|cpp|cs|css|csv|diff|env|go|h|hpp|htm|html|ini|ipynb|java|js|json|"
    "jsonl|jsx|kt|lock|log|lua|md|mdx|mjs|mod|patch|php|png|proto|py|pyi|rb|rs|scss|sh|sql|sum|"
    "svelte|svg|swift|tcss|toml|ts|tsx|txt|vue|xml|yaml|yml|zig"
)
_NAME = re.compile(
    rf"""
      (?P<url>https?://[^\s"'<>`)\]}}\\|]+)
    | (?P<uuid>\b[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}\b)
    | (?P<path>(?<![\w/.~@*-])(?:(?:~|\.{{1,2}})?/?[\w.@+-]+(?:/[\w.@+\[\]-]+)+|/[\w.@+-]+))
    | (?P<file>(?<![\w/.@-])[\w-]+(?:\.[\w-]+)*\.(?:{_ENDINGS})\b(?![\w(./]))
    | (?P<issue>(?<![\w&/\#])\#\d{{1,6}}\b)
    | (?P<hash>(?<![\w.-])(?=[a-f]*\d)[0-9a-f]{{7,40}}(?![\w-]))
    | (?P<identifier>(?<!\w)[A-Za-z_]\w{{5,}})
    """,
    re.VERBOSE,
)
_CHUNK = re.compile(r"""(?!(?<=<)/)[^\s"'`<>|\\,;(){}]{3,1000}\(?""")
"""Without the `/` of a closing tag."""
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_FILE = re.compile(rf"\.(?:{_ENDINGS})$")
_ODD = re.compile(r"//|\w\.{2,3}\w|(?:^|/)\.{3}")
"""In a path: a range of revisions or an omission, not a folder."""
_CONTEXT = re.compile(r"(?<=\.\w\w)-\d+-?$|(?<=\.\w\w\w)-\d+-?$")
"""After a path: the line number of context around a search hit."""
_MIN_PATH = 4

_BODIES = frozenset(
    [
        *("content", "description", "edits", "explanation", "input", "new_string", "old_string"),
        *("patch", "plan", "prompt", "todos"),
    ]
)
"""Arguments that hold text to write or say, and refer to nothing."""
_SETTINGS = frozenset(["activeForm", "output_mode", "status", "subagent_type", "type"])
"""Arguments that choose an option of a tool."""
_PATCH = "*** Begin Patch"
_EMPTY = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


class Name(Struct, frozen=True):
    kind: NameKind
    text: str


def names(text: str, cwd: str = "") -> list[Name]:
    """The names in `text`, in order, repetitions included."""
    if len(text) > MAX_SCANNED_CHARS:
        half = MAX_SCANNED_CHARS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    root = cwd.rstrip("/") + "/"
    return list(chain.from_iterable(map(_in_chunk, _CHUNK.findall(text), repeat(root))))


@lru_cache(maxsize=32_768)
def _in_chunk(chunk: str, root: str) -> tuple[Name, ...]:
    """Cached: much of this text comes again and again."""
    if chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        return ()
    return tuple(_names_in(chunk, root))


def _names_in(chunk: str, root: str) -> Iterator[Name]:
    for match in _NAME.finditer(chunk):
        found = match[0]
        match match.lastgroup:
            case "identifier":
                if "_" in found.strip("_") or _CAMEL.search(found):
                    yield Name("identifier", found)
            case "path":
                path = _path(found, root)
                if path:
                    yield Name("path", path)
            case "file":
                yield Name("path", found)
            case "url":
                yield Name("url", found.rstrip(".,;:*"))
            case "issue":
                yield Name("issue", found)
            case _:
                yield Name("hash", found)


def is_file(path: str) -> bool:
    """Whether a path has a known file ending."""
    return _FILE.search(path) is not None


def call_texts(item: Item) -> tuple[str, str]:
    """What a tool call refers to (paths, commands, patterns), and the text that it writes."""
    given = parsed(item.content)
    references: list[str] = [] if given is not None else [item.content]
    bodies: list[str] = []
    for key, value in (given or {}).items():
        if key not in _SETTINGS:
            (bodies if key in _BODIES else references).extend(strings(value, _SETTINGS))
    whole = "\n".join(references)
    head, patch, body = whole.partition(_PATCH)
    return head, "\n".join([*bodies, patch + body])


def _path(found: str, root: str) -> str | None:
    path = _CONTEXT.sub("", found.rstrip("."))
    if ("[" in path) != ("]" in path):
        path = re.split(r"[\[\]]", path)[0]
    if path in _EMPTY or _ODD.search(path) or not any(char.isalpha() for char in path):
        return None
    if (
        path[0] not in "/~."
        and path.count("/") < 2
        and not any(c in "._-" or c.isdigit() for c in path)
    ):
        return None  # "read/write"
    if len(root) > 1:
        path = path.removeprefix(root) if path != root[:-1] else ""
    path = path.removeprefix("./").rstrip("/")
    if path[:2] in {"a/", "b/"}:  # the sides of a diff
        path = path[2:]
    return path if len(path) >= _MIN_PATH else None

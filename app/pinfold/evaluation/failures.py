"""The lines of a failed call's output that say what went wrong."""

import re

from msgspec import Struct

from pinfold.checkpoint.text import short

MAX_LINES = 2
MAX_LINE_CHARS = 120
_SCANNED_CHARS = 32_768
"""At the head and at the tail of an output."""

_PREAMBLE = re.compile(
    r"^(?:Chunk ID:|Wall time:|Process exited with|Original token count:|Output:|Exit code\b)"
)
_SOURCE = re.compile(
    r"^(?:[+-](?![+-]*\d)|//|/\*|\* |[>│|] |return\b"
    r"|(?:function|const|let|var|def|func|import|export)\s"
    r"|\d+(?:\s+\d+)?(?:\t|\s*[│|→])|\(pass\)|✓|✔|--- PASS|=== RUN"
    r"|\"[^\"]*\",?$|'[^']*',?$)|[{;]$"
)
"""Lines of source, diffs and successes: they report no failure."""
_TAG = re.compile(r"</?(?:tool_use_error|error|system-reminder|stdout|stderr)>")
_EXCEPTION = re.compile(r"\b(?:[a-z]\w*\.)*([A-Z]\w*(?:Error|Exception|Panic|Fault))\b")
_CODE = re.compile(r"\b(E[A-Z]{4,15}|TS\d{4,5}|E\d{4}|SC\d{4}|HTTP [45]\d\d)\b")
_PHRASE = re.compile(
    r"\b(no such file or directory|command not found|file does not exist|no matches found|"
    r"not a git repository|permission denied|access denied|connection refused|already exists|"
    r"does not exist|cannot find|could not find|not found|unknown (?:flag|command|option|argument)|"
    r"unexpected|undefined|undeclared|unresolved|ambiguous|conflict|rejected|timed out|timeout|"
    r"deadlock|out of memory|segmentation fault|panic|syntax error|assertion failed|not allowed|"
    r"invalid|unable to|cannot|can't|missing|fatal|failed|failure|failing|error)\b",
    re.IGNORECASE,
)


class Failure(Struct, frozen=True):
    label: str
    """The exception, code or phrase that names it."""
    line: str
    """The line that says it."""


def failures(output: str) -> list[Failure]:
    """The lines of a failed call's output that say what went wrong: the first of each class."""
    found: dict[str, str] = {}
    first = ""
    for raw in _ends(output).splitlines():
        line = _TAG.sub("", raw).strip()
        if not line or _PREAMBLE.match(line) or _SOURCE.search(line):
            continue
        first = first or line
        label = _label(line)
        if label and label not in found:
            found[label] = line
    precise = [label for label in found if label not in {"error", "failed", "fatal"}]
    if not found and first:
        found["failed"] = first
    chosen = (precise or list(found))[:MAX_LINES]
    return [Failure(label, short(found[label], MAX_LINE_CHARS)) for label in chosen]


def _label(line: str) -> str:
    for pattern in (_EXCEPTION, _CODE):
        if match := pattern.search(line):
            return match[1]
    match = _PHRASE.search(line)
    return match[1].casefold() if match else ""


def _ends(output: str) -> str:
    if len(output) <= 2 * _SCANNED_CHARS:
        return output
    return f"{output[:_SCANNED_CHARS]}\n{output[-_SCANNED_CHARS:]}"

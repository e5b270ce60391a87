"""What the user wrote themselves in a message, sentence by sentence; code, quotes and pastes go."""

import re
from collections.abc import Iterator

from msgspec import Struct

from pinfold.checkpoint.text import one_line

MAX_READ_CHARS = 12_000
"""Of a message; a longer one is a paste, of which the head counts."""
MAX_CHARS = 400
"""Of a sentence; what is longer is a text."""
_BLOCK = 3
"""Lines, of which half are pasted if all are."""
_TRANSCRIPT = 20
"""Lines, of which a quarter are pasted if all from the first of those to the last are."""

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_BULLET = re.compile(r"^\s*(?:[-*•+]|(\d{1,2})[.)])\s+(?:\[[ x]\]\s+)?")
_HEAD = re.compile(r"^(?:#{1,6} (.+)|\*\*(.+)\*\*:?|([^:]{2,60}):)\s*$")
_PASTED = re.compile(
    r"^(?:>|\||\s{4,}|\t|[+-]{3} |@@|#{1,6} |\$ |at \S+\(|={3,}|-{3,}|\s*[\"']\w+\":"
    r"|\s*[{}\[\]➜✓✗✔✘]|[a-z]+://\S+\s*$|[\w.~-]*/\S+\s*$)|\d\d:\d\d:\d\d|"
    r"\b(?:error|warn(?:ing)?|info|debug|fatal|traceback|exception|hint)\b\]?:|[{};]\s*$|━|│",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"^[\w .%-]{2,40}: \S+$")
_SENTENCE = re.compile(
    r"(?<=[^\W\d_]{2}[.!?])\s+|\s*[\U0001f300-\U0001faff]+\s*"
    r"|(?<=[.!?])[\"')\]]*\s+(?=[\"'(¿¡]?[^\W_a-z])"
    r"(?!(?<=\d\.\s)(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez))"  # "am 4. März"
)
_CLAUSE = re.compile(r"(?<=;) ")
LEAD_IN = re.compile(r"(\S[^:\n]{1,99}):\s+(\S+ \S+ \S.*)")
"""What announces a statement, and the statement."""


class Sentence(Struct, frozen=True):
    """A sentence, or what stands for one in a list."""

    text: str
    """On one line, else verbatim."""
    head: str
    """Over the list that it stands in; empty outside of any."""
    answer: bool
    """Whether the message is a numbered list and this is of it: an answer to questions."""


def sentences(text: str) -> Iterator[Sentence]:
    """In their order."""
    head = ""
    answers: bool | None = None
    for line in _own(text[:MAX_READ_CHARS].splitlines()):
        if found := _HEAD.match(line):
            head = one_line(found[1] or found[2] or found[3])
        bullet = _BULLET.match(line)
        if answers is None and line.strip():
            answers = bool(bullet and bullet[1])
        prose = line[bullet.end() :] if bullet else line
        if _PASTED.search(prose if bullet else line):
            continue
        if not bullet and not found and line.strip():
            head = ""
        for said in _sentences(prose):
            if 1 < len(said) <= MAX_CHARS:
                yield Sentence(said, head if bullet else "", bool(answers and bullet))


def _sentences(prose: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(prose):
        said = one_line(sentence)
        yield from [said] if len(said) <= MAX_CHARS else _CLAUSE.split(said)


def _own(lines: list[str]) -> Iterator[str]:
    """The lines that are no code block and no pasted one."""
    blocks = list(_blocks(lines))
    whole = [line for block in blocks for line in block]
    if _is_pasted(whole, _TRANSCRIPT, 4):
        raw = [index for index, line in enumerate(whole) if _is_raw(line) or _LABELLED.match(line)]
        yield from whole[: raw[0]]
        yield from whole[raw[-1] + 1 :]
        return
    for block in blocks:
        if not _is_pasted(block, _BLOCK, 2):
            yield from block


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """What blank lines part, without code."""
    fenced, block = False, []
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    yield block


def _is_pasted(lines: list[str], at_least: int, share: int) -> bool:
    return len(lines) >= at_least and share * sum(map(_is_raw, lines)) >= len(lines)


def _is_raw(line: str) -> bool:
    return bool(_PASTED.search(line)) and not _BULLET.match(line) and not _HEAD.match(line)

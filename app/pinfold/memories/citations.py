"""The block with which a reply says which memories it used.

    <memory_citations>
    memory_summary.md:12-14 | how the tests are run
    sessions: 0198ab12-1234, 0198ab13-5678
    </memory_citations>

It is at the end of the reply. Other lines in it are ignored. If the closing line is missing and a
line before the last has another form, it is not a block but text, so that no reply is lost.
"""

import re
from collections import deque

from pinfold.ports.memories import CutReply
from pinfold.rollout.memory import MemoryCited
from pinfold.sanitize import one_line

OPEN, CLOSE = "<memory_citations>", "</memory_citations>"
MOST = 32
"""Places and sessions that one reply can cite."""
LONGEST = 8_000
"""Characters; a longer block counts as text of the reply."""
_NOTE = 200
_MAX_LINE = 1_000_000
_BLOCK = re.compile(rf"(?m)^[ \t]*{OPEN}[ \t]*$")
_PLACE = re.compile(r"(?P<path>[^:|]{1,200}):(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?\s*(?:\||$)")
_IDS = re.compile(r"(?i)(?:sessions?|session ids?)\s*:\s*(?P<ids>.+)")
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{7,127}")


def cut(reply: str) -> CutReply | None:
    """A reply without the block at its end; None if it has no block, or no other text."""
    last = next(iter(deque(_BLOCK.finditer(reply), maxlen=1)), None)
    if last is None or len(reply) - last.start() > LONGEST:
        return None
    inner, closed, after = reply[last.end() :].partition(CLOSE)
    text = reply[: last.start()].rstrip()
    if not text or (after.strip() if closed else not _is_block(inner)):
        return None
    cited: list[MemoryCited] = []
    sessions: list[str] = []
    for line in map(str.strip, inner.splitlines()):
        if ids := _IDS.match(line):
            sessions += _ID.findall(ids["ids"])
        elif (place := _PLACE.match(line.lstrip("-* "))) and (one := _cited(place, line)):
            cited.append(one)
    return CutReply(
        text,
        reply[last.start() :],
        tuple(dict.fromkeys(cited))[:MOST],
        tuple(dict.fromkeys(sessions))[:MOST],
    )


def _is_block(inner: str) -> bool:
    """Whether all lines have the form of a block; the last, which may be cut off, need not."""
    whole = [line.strip() for line in inner.splitlines() if line.strip()][:-1]
    return all(_IDS.match(line) or _PLACE.match(line.lstrip("-* ")) for line in whole)


def _cited(place: "re.Match[str]", line: str) -> MemoryCited | None:
    first = int(place["first"])
    last = int(place["last"] or first)
    if not 1 <= first <= last <= _MAX_LINE:
        return None
    note = one_line(line.partition("|")[2]).strip()[:_NOTE]
    return MemoryCited(one_line(place["path"]).strip(), first, last, note)


def shown(streamed: str) -> int:
    """How many characters of a streaming reply can't belong to the block."""
    if opened := _BLOCK.search(streamed):
        return opened.start()
    start = streamed.rfind("\n") + 1
    line = streamed[start:]
    begins = line.strip() and OPEN.startswith(line.lstrip(" \t")[: len(OPEN)].rstrip())
    return start if begins else len(streamed)

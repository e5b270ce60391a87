"""Whose words an item has. What the user typed is the user's; what was piped, attached or pasted
into a message is data, as are the results of tools.

An item's `detail` says it: `act` (`said`, `pasted`, `host`, `refused`), `pasted` (the spans of
`content` that were not typed), `host` (those that the host wrote), and `words` (what the user
typed, in an item that is data else).
"""

from __future__ import annotations

import re
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:  # the prompt, which a first paint shows, needs no items
    from collections.abc import Iterable, Iterator, Sequence

    from pinfold.rollout.items import Item

Span = tuple[int, int]
"""Where a part of a text begins and ends, in characters."""

PASTE = 200
"""Characters of a line above which text inserted at once counts as pasted."""
LONG = 1_500
"""Characters above which a message of unknown origin is a paste."""
FIRST, LAST = 3, 2
"""Sentences of such a message that are the user's, before and after the paste."""
SENTENCE = 600
"""Characters of the longest of these."""
_PIECE = 8
"""Characters of the shortest sentence by which a paste is known that was edited since."""

_SENTENCES = re.compile(r"[^\n]*?(?:[.!?…]+[\"'”’)\]*_`]*(?=\s|$)|[。！？]+[”’」』）]*)|[^\n]+")


class Prompt(Struct, frozen=True):
    """What the user sends, and which of it they did not type."""

    text: str
    pasted: tuple[Span, ...] = ()
    ours: bool = False
    """Whether it is pinfold's own text, of which the user typed nothing."""
    expands: bool = False
    """Whether it calls a skill or a command, whose text goes before it."""


def slices(text: str, spans: Iterable[Span]) -> list[str]:
    """The texts of these spans, without blank ones."""
    return [part for start, end in spans if (part := text[start:end].strip())]


def sentences(text: str) -> Iterator[Span]:
    """Sentences end at `. ! ? … 。 ！ ？` and at line ends; blank ones are left out."""
    for found in _SENTENCES.finditer(text):
        said = found[0].strip()
        if said:
            start = text.index(said, found.start())
            yield start, start + len(said)


def is_paste(text: str) -> bool:
    """Whether `text`, inserted at once, is data: a pasted word or path counts as typed."""
    return "\n" in text.strip() or len(text) > PASTE


def find(text: str, pastes: Iterable[str]) -> tuple[Span, ...]:
    """Where pasted texts are in `text`: whole, or their sentences where they were edited."""
    found: list[Span] = []
    for paste in map(str.strip, pastes):
        if paste and paste in text:
            found += _occurrences(text, paste)
        elif paste:
            found += _pieces(text, paste)
    return _merged(found, len(text))


def guess(text: str, host: Sequence[Span] = ()) -> tuple[Span, ...]:
    """The spans of a text of unknown origin that count as pasted; `host` are none of the user's."""
    if len(text) - sum(end - start for start, end in host) <= LONG:
        return ()
    for start, end in host:
        text = text[:start] + "\n" * (end - start) + text[end:]
    every = list(enumerate(sentences(text)))
    last = len(every) - LAST

    def own(numbered: tuple[int, Span]) -> bool:
        at, (start, end) = numbered
        return (at < FIRST or at >= last) and end - start <= SENTENCE

    runs = [list(run) for mine, run in groupby(every, own) if not mine]
    return tuple((run[0][1][0], run[-1][1][1]) for run in runs)


def guess_added(before: str, after: str) -> list[str]:
    """What of `after` counts as pasted, where another program made it of `before`."""
    grown = len(after) - len(before) > LONG
    return slices(after, guess(after)) if grown else []


def typed_in(text: str, spans: Iterable[Span]) -> list[str]:
    """The texts outside of these spans."""
    return slices(text, _gaps(_merged(spans, len(text)), len(text)))


def detail(prompt: Prompt) -> dict[str, Any]:
    """The detail of a prompt's item that records its origin."""
    if prompt.ours:
        return {"act": "host", "pasted": []}
    spans = _merged(prompt.pasted, len(prompt.text))
    act = "said" if typed_in(prompt.text, spans) or not spans else "pasted"
    return {"act": act, "pasted": [list(span) for span in spans]}


def typed(item: Item) -> list[str]:
    """The parts of an item that the user typed, in their order."""
    if item.kind != "user":
        said = item.detail.get("words")
        return [said.strip()] if isinstance(said, str) and said.strip() else []
    if item.detail.get("act") == "host":
        return []
    return typed_in(item.content, [*_spans(item), *_host(item)])


def pasted(item: Item) -> list[str]:
    """The parts of a message of the user that were piped, attached or pasted."""
    if item.kind != "user" or item.detail.get("act") == "host":
        return []
    length = len(item.content)
    return typed_in(item.content, [*_gaps(_spans(item), length), *_host(item)])


def marked(item: Item, opening: str, closing: str) -> str:
    """The content, with lines before and behind each part that was pasted."""
    text = item.content
    if item.kind != "user" or item.detail.get("act") == "host":
        return text
    spans = [span for span in _spans(item) if text[slice(*span)].strip()]
    for start, end in reversed(spans):
        part = text[start:end].strip("\n").replace(closing, closing.lower())
        text = f"{text[:start].rstrip()}\n{opening}\n{part}\n{closing}\n{text[end:].lstrip()}"
    return text.strip() if spans else text


def parts(item: Item) -> list[tuple[str, bool]]:
    """A message of the user in its order, without what the host wrote into it: each part, and
    whether it was pasted."""
    if item.detail.get("act") == "host":
        return []
    length = len(item.content)
    host, own = _host(item), _merged(_spans(item), length)
    cuts = sorted({0, length, *chain.from_iterable(host), *chain.from_iterable(own)})
    found: list[tuple[str, bool]] = []
    for start, end in pairwise(cuts):
        text = item.content[start:end].strip()
        if text and not any(a <= start < b for a, b in host):
            found.append((text, any(a <= start < b for a, b in own)))
    return found


def words(item: Item) -> str:
    """All that the user typed in an item."""
    return "\n\n".join(typed(item))


def request(items: Iterable[Item]) -> Item | None:
    """The first message in which the user typed something."""
    return next((item for item in items if item.kind == "user" and typed(item)), None)


def spans_of(recorded: object, length: int) -> tuple[Span, ...]:
    """The spans that a file names, as far as they are in a text of that length."""
    every = recorded if isinstance(recorded, list | tuple) else ()
    return _merged(filter(None, map(_span, every)), length)


def _spans(item: Item) -> tuple[Span, ...]:
    recorded = item.detail.get("pasted")
    if isinstance(recorded, list | tuple):
        return spans_of(recorded, len(item.content))
    if item.detail.get("act") == "pasted":
        return ((0, len(item.content)),)
    return guess(item.content, _host(item))


def _host(item: Item) -> tuple[Span, ...]:
    return spans_of(item.detail.get("host"), len(item.content))


def _span(found: object) -> Span | None:
    match found:
        case [int(start), int(end)]:
            return start, end
        case _:
            return None


def _occurrences(text: str, part: str) -> Iterator[Span]:
    at = text.find(part)
    while at >= 0:
        yield at, at + len(part)
        at = text.find(part, at + len(part))


def _pieces(text: str, paste: str) -> Iterator[Span]:
    pieces = [paste[start:end] for start, end in sentences(paste) if end - start >= _PIECE]
    for outer in {*pieces[:1], *pieces[-1:]}:  # typed text may adjoin these
        yield from _occurrences(text, outer)
    known = set(pieces)
    for start, end in sentences(text):
        if text[start:end] in known:
            yield start, end


def _merged(spans: Iterable[Span], length: int) -> tuple[Span, ...]:
    """In order, apart from each other, and within a text of that length."""
    merged: list[Span] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


def _gaps(spans: Sequence[Span], length: int) -> list[Span]:
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), length]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]

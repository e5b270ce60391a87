"""Names and numbers in a text, and which of them are in items.

A name is what has to be copied to the letter: a path, a URL, a symbol, an option, an abbreviation,
a call, what is in backticks. Sources are looked at to the letter, whatever the case.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

from pinfold.rollout.arguments import parsed
from pinfold.rollout.items import Item

_CODE = re.compile(r"`+([^`\n]+)`+")
_URL = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}://[^\s\"'<>`)\]}]+", re.IGNORECASE)
_CALL = re.compile(r"(?<!\w)([^\W\d]\w*)\(\)")
_CHUNK = re.compile(r"[^\s\"'“”„«»‘’<>|\\,;:=(){}\[\]*!?…。！？，、：；]+")
_FIGURE = re.compile(r"\d+(?:\.\d+)*")
_NUMBER = re.compile(rf"(?<![\w.])\d{{1,3}}(?:[,_]\d{{3}})+(?:\.\d+)?(?!\w)|{_FIGURE.pattern}")
_MEASURE = re.compile(r"[~≈<>±$€£+-]?\d[\d.,_]*(?:%|x|[^\W\d_]{1,3})?", re.IGNORECASE)
"""A number, with its unit or as an ordinal."""
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?")
_NAMED = re.compile(r"\d|_|\w[.@#~+$]\w|^[./~@#]|/.*/|^--?[^\W\d_]")
_PLACE = re.compile(r"(?::\d+){1,2}$|\(\)$")
"""A line behind a path, or the brackets of a call."""
_LIST_MARK = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*+•])\s+(?:\[[ xX]\]\s+)?|^#{1,6}\s", re.MULTILINE)
_EDGES = ".-–—/~#@+%$&"
"""Punctuation at the end of a name."""


def names(text: str, cwd: str = "") -> list[str]:
    """The names in a text, each once; paths below `cwd` are relative."""
    return list(dict.fromkeys(name for name in _names(text, cwd) if len(name) > 1))


def numbers(text: str) -> list[str]:
    """The numbers in a text that are no part of a name, each once, without separators."""
    rest = _CALL.sub(" ", _URL.sub(" ", _CODE.sub(" ", _LIST_MARK.sub("", text))))
    chunks = map(_bare, _CHUNK.findall(_grouped(rest)))
    found = (match for chunk in chunks if _is_measure(chunk) for match in _FIGURE.findall(chunk))
    return list(dict.fromkeys(found))


class ItemTexts:
    """What some items say, to look things up in."""

    def __init__(self, items: Iterable[Item], known: Iterable[str] = ()) -> None:
        """`known` are texts that were found to hold before."""
        every = list(items)
        self._numbered = {item.n for item in every}
        self._texts = [text for item in every for text in texts_of(item)]
        self._texts += known

    def missing(self, text: str, cwd: str = "") -> list[str]:
        """The names and numbers of `text` that are not here."""
        gone = [name for name in names(text, cwd) if not self._holds(name)]
        return gone + [number for number in numbers(text) if number not in self._numbers]

    def tells(self, text: str, cwd: str = "") -> bool:
        """Whether `text` has names or numbers, and all of them are here."""
        return not self.missing(text, cwd) and bool(names(text, cwd) or numbers(text))

    @cached_property
    def _whole(self) -> str:
        return "\n".join(" ".join(text.split()) for text in self._texts).casefold()

    @cached_property
    def _numbers(self) -> frozenset[str]:
        figures = _FIGURE.findall(self._whole)
        return frozenset([*figures, *map(_plain, _NUMBER.findall(self._whole))])

    def _holds(self, name: str) -> bool:
        if name[0] == "#" and name[1:].isdecimal() and int(name[1:]) in self._numbered:
            return True
        return is_in(" ".join(name.split()).casefold(), self._whole)


def missing(text: str, items: Iterable[Item], cwd: str = "") -> list[str]:
    """The names and numbers of `text` that are not in these items."""
    return ItemTexts(items).missing(text, cwd)


def texts_of(item: Item) -> Iterator[str]:
    """All that an item says; a call's arguments as parsed JSON."""
    if item.kind != "tool_call":
        yield item.content
        for key in ("command", "title", "exit_code", "paths", "diff"):
            yield from _strings(item.detail.get(key))
        return
    yield item.name or ""
    given = parsed(item.content)
    yield from [item.content] if given is None else _strings(given)


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case int() | float():
            yield str(value)
        case dict():
            for key, inner in value.items():
                yield str(key)
                yield from _strings(inner)
        case list() | tuple():
            for inner in value:
                yield from _strings(inner)


def _names(text: str, cwd: str) -> Iterator[str]:
    text = _LIST_MARK.sub("", text)
    for found in _CODE.findall(text):
        yield _below(_PLACE.sub("", found.strip()), cwd)
    text = _CODE.sub(" ", text)
    for url in _URL.findall(text):
        yield url.rstrip(".,;:!?")
    text = _URL.sub(" ", text)
    yield from _CALL.findall(text)
    for chunk in map(_bare, _CHUNK.findall(_grouped(text))):
        if _is_name(chunk):
            yield _below(chunk, cwd)


def _bare(chunk: str) -> str:
    """Without the punctuation around it; an option keeps its dashes."""
    return chunk.rstrip(_EDGES).lstrip("–—+%&$")


def _is_measure(chunk: str) -> bool:
    return any(map(str.isdecimal, chunk)) and all(
        _MEASURE.fullmatch(part) for part in re.split(r"[/–—-]|\.\.", chunk) if part
    )


def _is_name(chunk: str) -> bool:
    if not any(map(str.isalpha, chunk)):
        return chunk[:1] == "#" and chunk[1:].isdecimal()
    if _is_measure(chunk) or _INITIALS.fullmatch(chunk):
        return False
    return bool(_NAMED.search(chunk)) or any(map(_has_capitals, re.split(r"[/-]", chunk)))


def _has_capitals(word: str) -> bool:
    inside = any(one.islower() and two.isupper() for one, two in pairwise(word))
    return inside or sum(map(str.isupper, word)) > 1


def _below(path: str, cwd: str) -> str:
    root = cwd.rstrip("/") + "/"
    return (path.removeprefix(root) if cwd else path).removeprefix("./")


def _grouped(text: str) -> str:
    """`1,500` as `1500`: a comma ends a name."""
    return _NUMBER.sub(lambda found: _plain(found[0]), text)


def _plain(number: str) -> str:
    return number.replace(",", "").replace("_", "")


def is_in(name: str, text: str) -> bool:
    """Whether a text has the name, and not only as part of another."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_joins(name[0], text[at - 1 : at]) or _joins(name[-1], text[end : end + 1])):
            return True
        at = text.find(name, at + 1)
    return False


def _joins(edge: str, next_to: str) -> bool:
    """Whether two neighbouring characters are of one word."""
    return (edge.isalnum() or edge == "_") and (next_to.isalnum() or next_to == "_")

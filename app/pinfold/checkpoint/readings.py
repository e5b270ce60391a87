"""Values that stand under a key in what calls gave: of those that changed, and of those that the
user or the agent speaks of, the newest."""

import re
from collections import Counter

from msgspec import Struct

from pinfold.checkpoint.text import one_line
from pinfold.rollout.items import Item

MAX_SHOWN = 6
_MAX_KEPT = 512
_MAX_CALLS = 256
_MAX_READ_CHARS = 50_000

_KEY = r"[^\W\d][\w.-]{2,40}(?: [^\W\d][\w.-]*){0,3}"
_VALUE = r"\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|(?=[\w./:@+-]*\d)[\w./:@+-]{0,79}\w|true|false"
_LINE = re.compile(
    rf"^(?:[ \t]*\d+[\t|:])?[ \t]{{0,4}}(?P<key>{_KEY})(?:[ \t]*[=|][ \t]*|:[ \t]+)"
    rf"(?P<value>{_VALUE})[,;]?[ \t]*$",
    re.MULTILINE,
)
_METRIC = re.compile(r"^(?P<key>[^\W\d]\w*_\w+) (?P<value>\d+)$", re.MULTILINE)
_MAX_VALUES = 4
"""Of a setting, in a session; what has more of them counts or names something else each time."""
_TELLING = re.compile(r"\w+[_.-]\w|[a-z]+[A-Z]")
"""A key that means nothing else where it stands in prose."""
_TIMES = re.compile(
    r"(?:time|date|took|duration|elapsed|real|user|sys|seconds?|uptime|pid)(?![^\W\d_])"
    r"|.*[ _.-]at$",
    re.IGNORECASE,
)
_SECRET = re.compile(r"key\b|secret|token|passw|credential", re.IGNORECASE)
_SPAN = re.compile(r"\d+(?:\.\d+)?(?:ms|s|m|h|%)|\d\d:\d\d(?::\d\d)?\S*")


class Reading(Struct, frozen=True):
    """What stood under a key last."""

    value: str
    item: int
    changed: bool
    """Whether the same call gave another value before."""
    values: frozenset[str]
    """All of them, up to one more than a setting has."""


class Readings:
    """Mutated by calls and results, in their order."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        """What was called, by id, while open."""
        self._by_call: dict[tuple[str, str], str] = {}
        """The last value, by what was called and the key."""
        self._last: dict[str, Reading] = {}
        """By key, the newest last."""
        self._spoken_of: set[str] = set()

    def add(self, item: Item) -> None:
        match item.kind:
            case "tool_call" if item.call_id:
                self._calls[item.call_id] = f"{item.name} {item.content}"
                if len(self._calls) > _MAX_CALLS:
                    del self._calls[next(iter(self._calls))]
            case "tool_result" if item.call_id in self._calls:
                self._read(item, self._calls.pop(item.call_id))
            case "user" | "assistant":
                text = item.content[:_MAX_READ_CHARS]
                self._spoken_of.update(
                    key for key in self._last if key in text and _TELLING.match(key)
                )
            case _:
                pass

    def retract(self, after: int) -> None:
        """Forget what items after #`after` gave, which a rewind took back."""
        self._last = {key: each for key, each in self._last.items() if each.item <= after}

    def lines(self) -> tuple[str, ...]:
        """`- port = 8080 (#12)`, the newest last."""
        told = [
            f"- {key} = {each.value} (#{each.item})"
            for key, each in self._last.items()
            if len(each.values) <= _MAX_VALUES and (each.changed or key in self._spoken_of)
        ]
        return tuple(told[-MAX_SHOWN:])

    def _read(self, item: Item, call: str) -> None:
        text = item.content[:_MAX_READ_CHARS]
        found = [
            (each["key"], one_line(each["value"]))
            for pattern in (_LINE, _METRIC)
            for each in pattern.finditer(text)
        ]
        times = Counter(key for key, _ in found)
        for key, value in found:
            passing = _TIMES.match(key) or _SPAN.fullmatch(value)
            if times[key] == 1 and not passing and not _SECRET.search(key):
                self._take(key, value, call, item.n)
        self._by_call = dict(list(self._by_call.items())[-_MAX_KEPT:])
        self._last = dict(list(self._last.items())[-_MAX_KEPT:])
        self._spoken_of &= self._last.keys()

    def _take(self, key: str, value: str, call: str, item: int) -> None:
        before = self._by_call.pop((call, key), value)
        self._by_call[call, key] = value
        known = self._last.pop(key, None)
        changed = before != value or (known is not None and known.changed)
        values = known.values if known is not None else frozenset()
        if len(values) <= _MAX_VALUES:
            values |= {value}
        self._last[key] = Reading(value, item, changed, values)

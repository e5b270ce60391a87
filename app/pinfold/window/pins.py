"""Pins: the user's rule that an item, or the items about a file, are never folded."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pinfold.rollout.events import Pin, PinsChanged
from pinfold.window.archive import Touch
from pinfold.window.placeholders import ranges
from pinfold.window.refused import Refused

if TYPE_CHECKING:
    from wcmatch.glob import WcMatcher

_NAMED = 5
_MOST = 1_000
"""Globs that one with braces may expand to."""


class Pins:
    """The pins in the order in which they were made."""

    def __init__(self, pins: Iterable[Pin] = ()) -> None:
        self._pins: dict[Pin, int] = {}
        """Each with its place in the order."""
        self._made = 0
        self.globs: tuple[str, ...] = ()
        self._add(pins)

    def step(self, change: PinsChanged) -> None:
        for pin in change.remove:
            self._pins.pop(pin, None)
        self._add(change.add)

    def _add(self, pins: Iterable[Pin]) -> None:
        for pin in pins:
            self._made += 1
            self._pins.setdefault(pin, self._made)
        self.globs = tuple(pin for pin in self._pins if isinstance(pin, str))

    def __iter__(self) -> Iterator[Pin]:
        return iter(self._pins)

    def __contains__(self, pin: Pin) -> bool:
        return pin in self._pins

    def __len__(self) -> int:
        return len(self._pins)

    def over(self, numbers: Iterable[int], files: Iterable[str]) -> Pin | None:
        """The first pin on any of `numbers` or `files`."""
        paths = list(files)
        pins: set[Pin] = {n for n in numbers if n in self._pins}
        pins.update(glob for glob in self.globs if concerns(glob, paths))
        return min(pins, key=self._pins.__getitem__, default=None)


def named(pins: Iterable[Pin]) -> str:
    """`#3, #5..9, src/**`; of a long list, the first names and how many more there are."""
    every = list(pins)
    numbers = ranges(sorted(pin for pin in every if isinstance(pin, int)))
    names = [f"#{part}" for part in numbers.split(", ") if part]
    names += [pin for pin in every if isinstance(pin, str)]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def concerns(pattern: str, paths: Iterable[str]) -> bool:
    """Whether a glob matches one of the paths."""
    return any(_matches(pattern, path) for path in paths)


def newest_about(
    glob: str, numbers: Sequence[int], touches: Callable[[int], Mapping[str, Touch]]
) -> list[int]:
    """The newest read and the newest edit of each file that matches, newest first.

    The newest that found it, where it was neither read nor edited.
    """
    newest: dict[tuple[str, Touch], int] = {}
    for n in reversed(numbers):
        for path, touch in touches(n).items():
            if _matches(glob, path) and (path, touch) not in newest:
                newest[path, touch] = n
    known = {path for path, touch in newest if touch != "found"}
    found = (n for (path, touch), n in newest.items() if touch != "found" or path not in known)
    return list(dict.fromkeys(found))


def check(pattern: str) -> None:
    """Raises `Refused` for a glob that expands to too many."""
    if not _alternatives(pattern):
        raise Refused(f"The braces in “{pattern}” expand to too many patterns.")


@lru_cache(maxsize=16_384)
def _matches(pattern: str, path: str) -> bool:
    return bool(_matcher(pattern).match(path))


@lru_cache
def _matcher(pattern: str) -> "WcMatcher[str]":
    from wcmatch import glob  # most sessions pin no glob

    return glob.compile(_alternatives(pattern), flags=glob.GLOBSTAR | glob.DOTGLOB)


@lru_cache
def _alternatives(pattern: str) -> list[str]:
    """The globs that its braces expand to; none if they are too many."""
    import bracex

    try:
        return list(dict.fromkeys(bracex.iexpand(pattern, keep_escapes=True, limit=_MOST)))
    except bracex.ExpansionLimitException:
        return []

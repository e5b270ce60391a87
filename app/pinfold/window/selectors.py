"""How people name items: `12`, `#12`, `12..18`, `last`, `src/**`."""

import re

from pinfold.rollout.events import Pin
from pinfold.window.pins import check, concerns
from pinfold.window.refused import Refused
from pinfold.window.window import Window

_BETWEEN = re.compile(r"(?:,(?![^{}]*\})|\s)+")
"""Separates names: not a comma in braces, as in `src/{a,b}.py`."""
_RANGE = re.compile(r"#?(\d{1,12})(?:(?:\.\.\.?|-)#?(\d{1,12}))?\Z")
_AGENT = re.compile(r"a(\d{1,6})#\d{1,12}(?:(?:\.\.\.?|-)#?\d{1,12})?\Z")
"""An item of an agent."""


def parse(text: str, window: Window) -> tuple[Pin, ...]:
    """The items of the window, or the glob, that `text` names. Raises `Refused`."""
    found: dict[Pin, None] = {}
    for word in _BETWEEN.split(text):
        match = _RANGE.match(word)
        if not word:
            continue
        check_own(word)
        if word == "last":
            found[_last(window)] = None
        elif match is None:
            check(word)
            found[word.removeprefix("./")] = None
        else:
            first = int(match[1])
            last = int(match[2] or first)
            if last < first:
                raise Refused(f"A range runs upwards: {last}..{first}.")
            found.update(dict.fromkeys(_range(first, last, window)))
    if not found:
        raise Refused("Name items: 12, 12..18, last, or the files they concern: src/**.")
    return tuple(found)


def check_own(word: str) -> None:
    """Raises `Refused` for an item of an agent, which has its own window."""
    if agent := _AGENT.match(word):
        raise Refused(
            f"{word} is an item of agent a{agent[1]}, which has its own window. "
            f"/agents {word} shows it."
        )


def numbers(text: str, window: Window) -> tuple[int, ...]:
    """The items of the window that `text` names, those of a glob included. Raises `Refused`."""
    found: dict[int, None] = {}
    for pin in parse(text, window):
        if isinstance(pin, int):
            found[pin] = None
        else:
            concerned = concerning(pin, window)
            if not concerned:
                raise Refused(f"No item in the window concerns a file that matches “{pin}”.")
            found.update(dict.fromkeys(concerned))
    return tuple(found)


def concerning(glob: str, window: Window) -> list[int]:
    """The items of the window that concern a matching file."""
    return [n for n in window.forms if concerns(glob, window.archive.files(n))]


def _last(window: Window) -> int:
    if not window:
        raise Refused("The window is empty.")
    return next(reversed(window.forms))


def _range(first: int, last: int, window: Window) -> list[int]:
    found = [n for n in window.forms if first <= n <= last]
    if not found:
        at = f"#{first}" if first == last else f"#{first}..{last}"
        known = first in window.archive
        raise Refused(
            f"{at} is no longer in the window." if known else f"There is no {at} in this session."
        )
    return found

"""How much of the next window each part may take. All figures of it are here."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from pinfold.compaction.refusals import TooSmall
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.numbers import tokens
from pinfold.window.reading import MAX_RESERVE

MAX_HEADROOM = 0.15
"""Of the usable window that `min_headroom_tokens` can ask for, at most."""
MIN_TARGET = 0.5
"""Of its share that the target keeps, however much instructions and tools take."""
SPARE = 0.25
"""Of the target that is free for all else, however much pins and the latest request take."""
CHECKPOINT = (0.10, 4_000)
"""Of the target, and tokens at most: plan, decisions, facts and files."""
FILE, FILES = 16, 0.15
"""Tokens beside these for each known file, up to that share of the target: a file that is not
called unchanged is read again, which costs more."""
SUGGESTED = (0.05, 2_000)
"""The same of the user's words that nobody confirmed for the core."""
HOW_TO = 0.04
"""Of the room that is left, the note on how to read the text."""
TAIL, TAIL_SMALL, SMALL, TINY = 0.5, 0.15, 4_000, 500
"""Of the room that is left, for the newest items; of its first `SMALL` tokens less, of the first
`TINY` nothing."""
USER_MESSAGES = 0.4
"""Of the target that the user's messages may take."""
SUMMARY = (0.35, 10_000)
"""Of the target, and tokens at most: the entries of a summary."""
KEPT_ROLES = 0.30
"""Of the target, for what `keep_roles` keeps."""
KEPT_FILES = 0.15
"""Of the target, for what `keep_files_glob` keeps."""
LARGE_REQUEST = 0.25
"""Of the context window, from which on the latest request goes in as its head and tail."""
CUT_REQUEST = 0.125
"""Of the context window that head and tail take."""
OVERSIZED = 0.25
"""Of the target, above which a tool's output is not kept whole."""
MANY_PINS = 0.5
"""Of what the next window may keep, from which on a note says what pins hold."""


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens for the window's items, as counted here."""

    usable: int
    comfortable: int
    """Leaves the headroom that was asked for."""
    target: int


def room(view: WindowView, options: PlanOptions) -> Room:
    """What the next window may take."""

    def within(most: float) -> int:
        return largest(int(most), view.correct_request) - view.context_tokens

    headroom = least_headroom(view, options)
    usable = within(view.usable)
    comfortable = max(0, within(view.usable - headroom))
    least = int(comfortable * options.target_pct * MIN_TARGET)
    target = max(within(view.usable * options.target_pct), least)
    return Room(usable, comfortable, min(target, comfortable))


def least_headroom(view: WindowView, options: PlanOptions) -> int:
    """Tokens that a compaction leaves free where it can."""
    return min(options.min_headroom_tokens, int(MAX_HEADROOM * view.usable))


def needed(view: WindowView) -> tuple[int, int]:
    """Tokens of the context and of the latest request, which every request carries."""
    request = view.latest_request
    asked = 0 if request is None else view.correct_items(request.full)
    return view.correct_request(view.context_tokens), asked


def pins_text(view: WindowView, options: PlanOptions) -> str:
    """A sentence on pins that hold most of what the next window may keep; empty of fewer."""
    held = sum(entry.tokens for entry in view.pinned)
    most = room(view, options).comfortable
    if held <= MANY_PINS * most:
        return ""
    return (
        f"Pins hold {tokens(view.correct_items(held))} of the {tokens(view.correct_items(most))} "
        "tokens that a compacted window may keep; remove some in /context."
    )


def smallest_window(view: WindowView) -> int:
    """The smallest context window that holds these, some headroom and room for the reply."""
    usable = sum(needed(view)) / (1 - MAX_HEADROOM)
    return ceil(min(usable + view.max_output, usable / (1 - MAX_RESERVE)))


def too_small(view: WindowView, spare: int = 0) -> TooSmall | None:
    """The error if the context window can't hold these and `spare` tokens more."""
    fixed, asked = needed(view)
    if fixed + asked + spare + view.reserve <= view.context_window:
        return None
    return TooSmall(view.reader.model, view.context_window, fixed, asked, view.reserve)


def largest(most: int, correct: Callable[[int], int]) -> int:
    """The largest estimate that, corrected, does not exceed `most`."""
    low, high = 0, 4 * max(most, 0)
    while low < high:
        middle = (low + high + 1) // 2
        if correct(middle) <= most:
            low = middle
        else:
            high = middle - 1
    return low


def tail_share(left: int) -> int:
    """Of `left` tokens, those for the newest items."""
    small = max(0, min(left, SMALL) - TINY)
    return int(TAIL_SMALL * small + TAIL * max(0, left - SMALL))


def share(part: tuple[float, int], target: int) -> int:
    """Tokens of a share of the target with a maximum."""
    fraction, most = part
    return min(int(fraction * target), most)

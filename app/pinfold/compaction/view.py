"""What a strategy sees: a snapshot of the window, with all that the host knows beside it."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

from msgspec import Struct

from pinfold.checkpoint.known import Known
from pinfold.checkpoint.model import CheckpointV1
from pinfold.ports.provider import ModelInfo, WindowSource
from pinfold.rollout.events import Pin
from pinfold.rollout.items import Form, Item, Kind, Origin
from pinfold.rollout.values import PlanBase
from pinfold.window.archive import Touch
from pinfold.window.gauge import Gauge
from pinfold.window.pins import newest_about
from pinfold.window.reading import Source, reserve
from pinfold.window.window import Window

T = TypeVar("T")

_LONG, _KEPT = 2_000, 16
"""Characters from which on a count is kept, and how many are."""
_STEP, _SMALLEST = 1.2, 64
"""Ratio of the sizes at which the correction is looked at, and the least of them."""


class WindowEntry(Struct, frozen=True, gc=False):
    """An item of the window."""

    item: Item
    """In full, whatever its form."""
    form: Form
    tokens: int
    """Its tokens now; a placeholder's count for its first item."""
    full: int
    """Its tokens in full."""
    pin: Pin | None
    """The pin that protects it; a glob protects the newest read and the newest edit of each
    file."""
    at: datetime
    touches: Mapping[str, Touch]
    """The files that it concerns, its other half included, and what it did with each."""
    partner: int | None
    """The other half of a call and its result."""
    sent: bool
    """Whether it is sent: neither it nor its other half is folded."""

    @property
    def n(self) -> int:
        return self.item.n

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self.touches)


@dataclass(frozen=True)
class WindowView:
    """The window now. Token counts are pinfold's own; `correct_request` and `correct_items` turn
    them into those that the provider would report."""

    base: PlanBase
    entries: tuple[WindowEntry, ...]
    context_tokens: int
    """Tokens of the context before the window."""
    context_window: int
    max_output: int
    known: Known
    """What is folded from the rollout beside the window."""
    count: Callable[[str], int]
    count_item: Callable[[Item], int]
    correct_request: Callable[[int], int]
    """The input tokens that a provider would report for a whole request of so many counted ones."""
    reader: Origin = field(default_factory=Origin)
    """The model whose window it is."""
    source: Source = "estimated"
    """Where the tokens of the request come from."""
    window_source: WindowSource = "config"
    """Where `context_window` comes from."""
    session: Callable[[], Iterable[Item]] = field(default=tuple, compare=False, repr=False)
    """All items of the session, oldest first: those that left the window are read again."""

    memo: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was worked out once: the view does not change, so it is valid for every plan."""

    def once(self, key: object, make: Callable[[], T]) -> T:
        """The result of `make`, which depends on the view alone, made once for each `key`."""
        if key not in self.memo:
            self.memo[key] = make()
        found: T = self.memo[key]
        return found

    @cached_property
    def checkpoint(self) -> CheckpointV1:
        return self.known.checkpoint

    @property
    def goal(self) -> str:
        """In the user's words: what they set, else the first request."""
        return self.known.core.goal or self.known.core.first_request

    @property
    def reserve(self) -> int:
        return reserve(self.context_window, self.max_output)

    @property
    def usable(self) -> int:
        return self.context_window - self.reserve

    @cached_property
    def by_number(self) -> dict[int, WindowEntry]:
        return {entry.item.n: entry for entry in self.entries}

    @cached_property
    def pinned(self) -> tuple[WindowEntry, ...]:
        return tuple(entry for entry in self.entries if entry.pin is not None)

    @cached_property
    def _kinds(self) -> dict[Kind, list[WindowEntry]]:
        found: dict[Kind, list[WindowEntry]] = {}
        for entry in self.entries:
            found.setdefault(entry.item.kind, []).append(entry)
        return found

    def of_kind(self, kind: Kind) -> Sequence[WindowEntry]:
        """The items of a kind, in order."""
        return self._kinds.get(kind, ())

    @cached_property
    def latest_request(self) -> WindowEntry | None:
        """The user's last message."""
        return next(reversed(self.of_kind("user")), None)

    @cached_property
    def unreadable(self) -> frozenset[int]:
        """Provider's compactions that this model can't read."""
        reader = (self.reader.provider, self.reader.model)
        return frozenset(
            entry.n
            for entry in self.of_kind("compaction")
            if not ((at := entry.item.origin) and (at.provider, at.model) == reader)
        )

    @cached_property
    def tokens(self) -> int:
        """What the window's items take, as counted here."""
        return sum(entry.tokens for entry in self.entries)

    def newest_about(self, glob: str) -> Sequence[int]:
        """The newest read and the newest edit of each file that matches, newest first."""
        entries = self.by_number
        touching = self.once("touching", lambda: [n for n, e in entries.items() if e.touches])
        return self.once(
            ("newest", glob), lambda: newest_about(glob, touching, lambda n: entries[n].touches)
        )

    def correct_items(self, tokens: int) -> int:
        """The same for items alone: what so many counted tokens of them add to a request."""
        context = self.correct_request(self.context_tokens)
        return max(0, self.correct_request(self.context_tokens + tokens) - context)


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How to compact. Defaults as in the design."""

    target_pct: float = 0.35
    """Of the usable window, that a compaction aims at."""
    min_headroom_tokens: int = 2_048
    headroom_given: bool = False
    """Whether the user named it for this compaction."""
    max_tail_messages: int = 12
    keep_roles: tuple[str, ...] = ("tool", "diff", "decision")
    roles_given: bool = False
    """Whether the user named the roles for this compaction."""
    keep_files_glob: tuple[str, ...] = ("AGENTS.md",)
    user_message_tokens: int = 20_000
    tail_bound: bool = False
    """Whether the tail never has more than `max_tail_messages`, though there is room."""
    spare: bool = False
    """Whether what is in use is never masked; else it is masked last."""
    filled: float = 0.5
    """Of the present window that the next one may take: a window below the target is compacted to
    get smaller."""
    numbered: bool = True
    """Whether the digest names the item of each line, for a session whose items can be recalled."""
    lines: frozenset[str] = frozenset()
    """Lines of the digest that the user keeps, by their keys."""
    keep: frozenset[int] = frozenset()
    """Items that the user wants kept this once."""
    fold: frozenset[int] = frozenset()
    """Items that the user wants out this once."""
    text: str | None = None
    """The text to insert, as the user edited it."""
    focus: str = ""
    """What the user wants a model that summarises to look at, in their words."""
    claims: frozenset[str] = frozenset()
    """Entries of a summary that the user keeps although no item confirms them."""
    prompts: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The user's or the project's prompts, by name, in place of pinfold's."""


def view_of(window: Window, gauge: Gauge, known: Known, model: ModelInfo) -> WindowView:
    """The window now."""
    reading = gauge.reading(model)
    return WindowView(
        base=PlanBase(window.generation, window.seq),
        entries=tuple(_entries(window, gauge)),
        context_tokens=sum(gauge.context_parts.values()),
        context_window=model.context_window,
        max_output=model.max_output,
        known=known,
        count=gauge.counter.count,
        count_item=_remembered(gauge.count_new),
        correct_request=_correction(gauge, reading.used),
        reader=Origin(provider=model.provider, model=model.name),
        source=reading.source,
        window_source=model.window_source,
        session=lambda: (window.archive[n] for n in tuple(window.archive)),
    )


def _remembered(count: Callable[[Item], int]) -> Callable[[Item], int]:
    """Counts a long text once, although several steps of a plan ask for it."""
    known: dict[tuple[Kind, str], int] = {}

    def counted(item: Item) -> int:
        if len(item.content) < _LONG or item.images or item.opaque:
            return count(item)
        key = (item.kind, item.content)
        if key not in known:
            if len(known) >= _KEPT:
                known.clear()
            known[key] = count(item)
        return known[key]

    return counted


def _correction(gauge: Gauge, used: int) -> Callable[[int], int]:
    """The gauge's correction, made to rise with the estimate; `used` is its value for the window
    now.

    Reports of an adopted session can contradict each other: a smaller request read as larger.
    """
    estimate = gauge.estimate
    steps = [estimate]
    while steps[-1] > _SMALLEST:
        steps.append(int(steps[-1] / _STEP))
    floors = list(accumulate((gauge.correct(step) for step in steps), min, initial=used))[1:]
    steps.reverse()
    floors.reverse()

    def correct(tokens: int) -> int:
        if tokens >= estimate:
            return used if tokens == estimate else max(used, gauge.correct(tokens))
        return min(gauge.correct(tokens), floors[bisect_left(steps, tokens)])

    return correct


def _entries(window: Window, gauge: Gauge) -> Iterator[WindowEntry]:
    archive, forms = window.archive, window.forms
    pins = _protecting(window)
    shown = window.shown
    tokens = {entry.stands_for[0]: count for entry, count in zip(shown, gauge.tokens, strict=True)}
    sent = {entry.stands_for[0] for entry in shown if entry.form != "placeholder"}
    for n, form in forms.items():
        item, stands = archive[n], n in sent
        takes = tokens.get(n, 0)
        yield WindowEntry(
            item,
            form,
            takes,
            takes if stands and form == "full" else gauge.count_full(item),
            pins.get(n),
            archive.at(n),
            archive.touches(n),
            archive.partner(n),
            stands,
        )


def _protecting(window: Window) -> dict[int, Pin]:
    if not window.pins:
        return {}
    held = [n for n in window.forms if window.is_pinned(n)]
    found: dict[int, Pin] = {}
    for n in held:
        # A pin by number counts before an older pin on a file.
        for number in (n, window.archive.partner(n)):
            if number is not None and number in window.pins:
                found.setdefault(n, number)
    for glob in window.pins.globs:
        for n in newest_about(glob, held, window.archive.touches):
            for number in (n, window.archive.partner(n)):
                if number is not None and number in window.forms:
                    found.setdefault(number, glob)
    return found

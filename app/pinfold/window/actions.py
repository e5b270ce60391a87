"""The user's changes to the window, worked out before they are made: what they would free."""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import ItemsMarked, Pin, PinsChanged
from pinfold.rollout.items import WRITTEN, Form
from pinfold.window.gauge import Gauge
from pinfold.window.masked_text import masked
from pinfold.window.pins import Pins, named, newest_about
from pinfold.window.reading import reserve
from pinfold.window.refused import Refused
from pinfold.window.show import Shown
from pinfold.window.window import Window

Act = Literal["pin", "unpin", "mask", "fold", "unfold"]

MUCH = 0.5
"""The share of the context window above which pins alone give a warning."""


class Effect(Struct, frozen=True):
    """A change that can be made, and its outcome. Nothing has happened yet."""

    act: Act
    event: PinsChanged | ItemsMarked
    numbers: tuple[int, ...]
    """The items that change."""
    before: int
    """Tokens of the next request, as the gauge has them."""
    after: int
    left: tuple[str, ...] = ()
    """Why some of the named items don't change."""
    pinned: int = 0
    """Tokens that pins would protect."""
    back: tuple[int, ...] = ()
    """Masked and folded items that a pin brings back in full."""
    warning: str = ""
    saved: int = 0
    """Tokens that the items take less, as they are counted one by one; negative where they take
    more."""

    @property
    def freed(self) -> int:
        """Tokens of the next request; negative where it grows."""
        return self.before - self.after


class Outlook(Struct, frozen=True):
    """A window that could replace this one. Nothing has happened yet."""

    items: int
    before: int
    """Tokens of the next request, as the gauge has them."""
    after: int


class Planner:
    """Works out changes of `window`. Pure: it reads and never changes anything."""

    def __init__(self, window: Window, gauge: Gauge, model: ModelInfo) -> None:
        self._window = window
        self._gauge = gauge
        self._model = model

    def plan(self, act: Act, pins: Sequence[Pin]) -> Effect:
        """What `act` on items (for pins: on globs too) would do. Raises `Refused`."""
        if act in ("pin", "unpin"):
            return self._pinning(act, pins)
        return self._marking(act, [pin for pin in pins if isinstance(pin, int)])

    # Marks

    def _marking(self, act: Act, numbers: Iterable[int]) -> Effect:
        window = self._window
        change = {"mask": self._mask, "fold": self._fold, "unfold": self._unfold}[act]
        changes: dict[int, Form] = {}
        refusals: dict[str, list[int]] = {}
        for n in numbers:
            form = window.form(n)
            if form is None:
                refusals.setdefault("no longer in the window", []).append(n)
                continue
            if why := change(n, form, changes):
                refusals.setdefault(why, []).append(n)
        if act == "fold":
            self._fold_lonely_thoughts(changes)
        told = tuple(f"{named(ns)}: {why}" for why, ns in refusals.items())
        changes = {n: form for n, form in changes.items() if window.form(n) != form}
        if not changes:
            raise Refused("; ".join(told) or "Nothing would change.")
        shown = window.preview(changes.items())
        before, after = self.sizes(shown)
        event = ItemsMarked(items=tuple(changes.items()))
        saved = -self._growth(shown)
        return Effect(act, event, tuple(changes), before, after, told, saved=saved)

    # Each adds the change of item `n`; it returns why the item stays as it is, or nothing.

    def _mask(self, n: int, _: Form, changes: dict[int, Form]) -> str:
        archive = self._window.archive
        both = [number for number in (n, archive.partner(n)) if number in self._window.forms]
        bodies = [number for number in both if self._has_body(number)]
        if not bodies:
            return "only results, and calls that write files, can be masked; fold it instead"
        if why := self._fixed(bodies[0]):
            return why
        whole = [body for body in bodies if self._window.form(body) == "full"]
        changes.update(dict.fromkeys(whole, "masked"))
        return "" if whole else "masked or folded already"

    def _fold(self, n: int, form: Form, changes: dict[int, Form]) -> str:
        partner = self._window.archive.partner(n)
        if why := self._fixed(n):
            return why
        if form == "placeholder":
            return "folded already"
        changes[n] = "placeholder"
        if partner is not None:
            changes[partner] = "placeholder"
        return ""

    def _unfold(self, n: int, form: Form, changes: dict[int, Form]) -> str:
        partner = self._window.archive.partner(n)
        both = [number for number in (n, partner) if number is not None]
        hidden = [
            number
            for number in both
            if self._window.form(number) in ("short", "masked", "placeholder")
        ]
        if not hidden:
            return "neither masked nor folded"
        changes.update(dict.fromkeys(hidden, "full"))
        if form == "placeholder":
            changes.update(self._thoughts(self._window.archive[n].response))
        return ""

    def _fixed(self, n: int) -> str:
        """Why item `n` must not change; empty if it may."""
        window = self._window
        pin = window.pin_on(n)
        if pin is not None:
            # The same words for all items pinned by number, so that a range says it once.
            return f"pinned by {pin}" if isinstance(pin, str) else "pinned; unpin first"
        item = window.archive[n]
        if any(call.n == n for call in window.open_calls):
            return "it has no result yet"
        if item.kind == "user" and n == self.latest_request:
            return "it is your latest request"
        return ""

    @cached_property
    def latest_request(self) -> int | None:
        """The number of the user's last message in the window."""
        archive = self._window.archive
        return next((n for n in reversed(self._window.forms) if archive[n].kind == "user"), None)

    def _has_body(self, n: int) -> bool:
        archive = self._window.archive
        partner = archive.partner(n)
        return masked(archive[n], None if partner is None else archive[partner]) is not None

    def _fold_lonely_thoughts(self, changes: dict[int, Form]) -> None:
        """Fold reasoning with all that it led to: no provider takes it alone."""
        archive = self._window.archive
        responses: dict[int, list[int]] = {
            archive[n].response: [] for n in changes if archive[n].kind in WRITTEN
        }
        for n in self._window.forms:
            if archive[n].response in responses:
                responses[archive[n].response].append(n)
        for rest in responses.values():
            forms = {n: changes.get(n, self._window.form(n)) for n in rest}
            led_to = [n for n in rest if archive[n].kind in ("assistant", "tool_call")]
            if led_to and all(forms[n] == "placeholder" for n in led_to):
                thoughts = (n for n in rest if archive[n].kind == "reasoning")
                changes.update(dict.fromkeys(thoughts, "placeholder"))

    def _thoughts(self, response: int) -> dict[int, Form]:
        archive = self._window.archive
        return {
            n: "full"
            for n, form in self._window.forms.items()
            if form == "placeholder"
            and archive[n].kind == "reasoning"
            and archive[n].response == response
        }

    # Pins

    def _pinning(self, act: Act, pins: Sequence[Pin]) -> Effect:
        window = self._window
        known = set(window.pins)
        changed = tuple(pin for pin in pins if (pin in known) == (act == "unpin"))
        if not changed:
            raise Refused(self._no_change(act, pins))
        changes = self._coming_back(changed) if act == "pin" else {}
        if act == "pin":
            event = PinsChanged(add=changed, items=tuple(changes.items()))
        else:
            event = PinsChanged(remove=changed)
        pins_after = Pins(window.pins)
        pins_after.step(event)
        held = {n for n in window.forms if window.pin_on(n, pins_after) is not None}
        moved = (n for n in window.forms if n in changes or (n in held) != window.is_pinned(n))
        shown = window.preview(changes.items()) if changes else window.shown
        counts = [(entry, self._count(entry)) for entry in shown]
        pinned = sum(
            n for entry, n in counts if entry.form != "placeholder" and entry.item.n in held
        )
        more = self._growth(shown)
        tokens = self._gauge.correct_share(pinned, more)
        used = self._gauge.reading(self._model).used
        before, after = self.sizes(shown) if changes else (used, used)
        return Effect(
            act,
            event,
            tuple(moved),
            before,
            after,
            pinned=tokens,
            back=tuple(changes),
            warning=self._check_pins(act, held, tokens),
            saved=-more,
        )

    def _coming_back(self, pins: Sequence[Pin]) -> dict[int, Form]:
        """The items that those pins protect and the model does not see in full."""
        window = self._window
        forms = window.forms
        numbers = [pin for pin in pins if isinstance(pin, int)]
        for glob in (pin for pin in pins if isinstance(pin, str)):
            numbers += newest_about(glob, list(forms), window.archive.touches)
        changes: dict[int, Form] = {}
        for n in numbers:
            if n in forms:
                self._unfold(n, forms[n], changes)
        return dict(sorted(changes.items()))

    def _no_change(self, act: Act, pins: Sequence[Pin]) -> str:
        names = named(pins)
        if act == "pin":
            return f"{names}: pinned already."
        holding = (self._window.pin_on(pin) for pin in pins if isinstance(pin, int))
        by = named({pin for pin in holding if pin is not None})
        return f"{names} is held by the pin on {by}: unpin that." if by else f"{names}: not pinned."

    def _check_pins(self, act: Act, held: Collection[int], tokens: int) -> str:
        if act == "unpin":
            return ""
        limit = self._model.context_window
        context = sum(self._gauge.context_parts.values())
        kept = reserve(limit, self._model.max_output)
        request = self.latest_request
        latest = 0 if request is None or request in held else self._full_tokens(request)
        needed = tokens + context + latest + kept
        if needed > limit:
            raise Refused(
                f"The window could no longer work: pins {tokens:,}, instructions and tools "
                f"{context:,}, your latest request {latest:,} and room for the reply {kept:,} "
                f"are {needed - limit:,} tokens more than the {limit:,} of {self._model.name}."
            )
        if tokens > MUCH * limit:
            return f"Pins alone now take {tokens / limit:.0%} of the context window."
        return ""

    # Sizes

    @cached_property
    def _shown_tokens(self) -> dict[tuple[Form, tuple[int, ...]], int]:
        shown = zip(self._window.shown, self._gauge.tokens, strict=True)
        return {(entry.form, entry.stands_for): tokens for entry, tokens in shown}

    def _full_tokens(self, n: int) -> int:
        tokens = self._shown_tokens.get(("full", (n,)))
        return self._gauge.count_full(self._window.archive[n]) if tokens is None else tokens

    def _count(self, shown: Shown) -> int:
        tokens = self._shown_tokens.get((shown.form, shown.stands_for))
        return self._gauge.count(shown) if tokens is None else tokens

    def sizes(self, after: Iterable[Shown]) -> tuple[int, int]:
        """Tokens of the next request, and of one that would carry `after`."""
        gauge = self._gauge
        used = gauge.reading(self._model).used
        return used, gauge.correct(gauge.estimate + self._growth(after))

    def _growth(self, after: Iterable[Shown]) -> int:
        """Counted tokens that `after` has more than the window."""
        return sum(map(self._count, after)) - sum(self._gauge.tokens)

"""What the gauge shows."""

from typing import Literal

from msgspec import Struct

from pinfold.ports.provider import WindowSource

Source = Literal["measured", "calibrated", "estimated", "unknown"]
"""Reported for this very window; counted here and corrected by this model's reports; counted here;
a part can't be counted, so that the figure is a guess."""

MAX_RESERVE = 0.25
"""Of the context window that is kept free for the reply, at most."""


class SentRequest(Struct, frozen=True):
    """A request, as the provider reported it."""

    input: int
    """Tokens."""
    cached: int
    """Of these, those from the prompt cache."""
    cost: float | None = None
    """US dollars, the reply included, where the price is known."""


class GaugeReading(Struct, frozen=True):
    """Tokens in the window now."""

    used: int
    source: Source
    limit: int
    """The model's context window."""
    segments: tuple[tuple[str, int], ...]
    """They add up to `used`."""
    reserve: int = 0
    """Kept free for the reply."""
    threshold: int | None = None
    """Tokens at which the window is compacted; None if it never is."""
    masking: int | None = None
    """Tokens at which old bodies are masked; None if they are not."""
    cached: float | None = None
    """The share of the last request's input that the provider had in its prompt cache."""
    requests: tuple["SentRequest", ...] = ()
    """The last ones of turns, the newest last."""
    never_cached: str = ""
    """Why this endpoint caches nothing, in a sentence; empty where it may."""
    cost: float | None = None
    """US dollars so far, where the prices are known."""
    window_source: WindowSource = "config"
    """Where `limit` comes from."""

    @property
    def usable(self) -> int:
        """Tokens that a request may have."""
        return max(0, self.limit - self.reserve)


def reserve(context_window: int, max_output: int) -> int:
    """Tokens kept free for the reply."""
    return min(max_output, int(context_window * MAX_RESERVE))


def scaled(parts: dict[str, int], total: int) -> tuple[tuple[str, int], ...]:
    """`parts` in proportion, adding up to `total` (largest remainder)."""
    whole = sum(parts.values())
    if whole in (0, total):
        return tuple(parts.items())
    shares = {name: count * total // whole for name, count in parts.items()}
    missing = total - sum(shares.values())
    for name in sorted(parts, key=lambda name: -(parts[name] * total % whole))[:missing]:
        shares[name] += 1
    return tuple(shares.items())

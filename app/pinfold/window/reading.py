"""What the gauge shows."""

from typing import Literal

from msgspec import Struct

Source = Literal["measured", "estimated"]


class Reading(Struct, frozen=True):
    """Tokens in the window now."""

    used: int
    source: Source
    """`measured` while the figure is the provider's own for this very window."""
    limit: int
    """The model's context window."""
    segments: tuple[tuple[str, int], ...]
    """Counted here; they add up to the estimate, which a measured `used` may differ from."""

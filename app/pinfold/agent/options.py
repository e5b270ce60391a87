"""How a session behaves, as plain values from the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pinfold.compaction.view import PlanOptions
from pinfold.settings import AUTOS, Auto, Mode
from pinfold.tokens.prices import Price


@dataclass(frozen=True, slots=True)
class Options:
    """How a session behaves."""

    approvals: Mode = "ask"
    allow: tuple[str, ...] = ()
    max_steps: int = 50
    max_retries: int = 6
    reasoning_effort: str | None = None
    auto: Auto = "auto"
    threshold: float = 0.85
    """The share of the usable window at which `auto` acts."""
    strategy: str = "layered"
    compact: PlanOptions = field(default_factory=PlanOptions)
    prices: Mapping[str, Price] = field(default_factory=dict)


@dataclass(slots=True)
class Limits:
    """When the window is compacted by itself; the user may change it at any time."""

    auto: Auto
    threshold: float
    """A share of the usable window."""

    def set(self, to: str) -> None:
        """Take `auto`, `ask`, `off`, or a share. Raises `ValueError`."""
        if to in AUTOS:
            self.auto = to
            return
        try:
            share = float(to.rstrip("%")) / (100 if to.endswith("%") else 1)
        except ValueError:
            why = f"“{to}” is neither a share such as 0.7 nor auto, ask or off."
            raise ValueError(why) from None
        if not 0 < share <= 1:
            raise ValueError(f"{to} is no share of the window: it must be above 0 and at most 1.")
        self.threshold = share

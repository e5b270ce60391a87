"""How a session behaves, as plain values from the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pinfold.compaction.view import PlanOptions
from pinfold.ports.memories import MemoryPort
from pinfold.ports.servers import Servers
from pinfold.ports.tool import Sandbox
from pinfold.settings import AUTOS, Auto, Drift, Mode
from pinfold.skills.library import Library
from pinfold.tokens.prices import Price


@dataclass(frozen=True, slots=True)
class PreparingOptions:
    """Whether and when a summary is written in the background."""

    wanted: bool = False
    threshold: float = 0.70
    """The share of the usable window from which on."""
    budget: float = 0.10
    """Of the tokens that turns have used, that it may use."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a session behaves."""

    approvals: Mode = "ask"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    drift: Drift = "after-compaction"
    trusted: bool = False
    """Whether the user trusts the folder, so that what only reads may run without a sandbox."""
    attended: bool = True
    """Whether there is a user to ask."""
    sandbox: Sandbox | None = None
    """Where commands run, except the user's own and hooks."""
    no_sandbox: str = ""
    """Why there is none."""
    max_steps: int = 50
    max_cost: float | None = None
    """US dollars that a turn may cost."""
    max_retries: int = 6
    reasoning_effort: str | None = None
    auto: Auto = "auto"
    threshold: float = 0.85
    """The share of the usable window at which `auto` acts."""
    strategy: str = "layered"
    compact: PlanOptions = field(default_factory=PlanOptions)
    hooks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Shell commands by the moment at which they run."""
    hook_timeout: float = 30.0
    """Seconds."""
    mask_threshold: float = 0.7
    """The share of the usable window from which on `layered` masks old bodies in batches."""
    preparing: PreparingOptions = field(default_factory=PreparingOptions)
    prewarm: bool = False
    """Whether a request that generates nothing goes ahead while the user types."""
    turn_metadata: bool = True
    """Whether requests carry the header that says what they are for."""
    summary_window: int | None = None
    """Tokens of context that the session's model has where it summarises; none is all it has."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    servers: Servers | None = None
    """MCP servers; an agent shares those of the session that started it."""
    servers_budget: float = 0.05
    """The share of the window above which servers are folded, and above which skills are."""
    skills: Library | None = None
    """Skills and commands; none where there can be none."""
    memories: MemoryPort | None = None
    """What earlier sessions learned; none where that is not to be used."""


@dataclass(slots=True)
class Limits:
    """When the window is compacted automatically; the user may change it at any time."""

    auto: Auto
    threshold: float
    """A share of the usable window."""

    def set(self, to: str) -> None:
        """Take `auto`, `ask`, `off`, or a share; above 1 it is in percent. Raises `ValueError`."""
        if to in AUTOS:
            self.auto = to
            return
        try:
            self.threshold = share_of(to)
        except ValueError as error:
            raise ValueError(f"{error} /threshold also takes auto, ask and off.") from None


def share_of(text: str) -> float:
    """A share of the window; above 1 it is in percent. Raises `ValueError`, in plain words."""
    try:
        share = float(text.removesuffix("%"))
    except ValueError:
        raise ValueError(f"“{text}” is not a share of the window, such as 0.7 or 70%.") from None
    if text.endswith("%") or share > 1:
        share /= 100
    if not 0 < share <= 1:
        raise ValueError(
            f"{text} is not a share of the window: it must be above 0 and at most 100%."
        )
    return share

"""Values in events."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one request as the provider counted them."""

    input: int = 0
    cached: int = 0
    """The share of `input` that came from the provider's prompt cache."""
    written: int = 0
    """The share of `input` that was put into it, where that has a price of its own."""
    output: int = 0
    reasoning: int = 0
    """The share of `output` that was reasoning."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: n + getattr(other, name) for name, n in asdict(self).items()})

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(**{name: n - getattr(other, name) for name, n in asdict(self).items()})


class AdoptedFrom(Struct, frozen=True, omit_defaults=True):
    """Where a session came from that another tool wrote."""

    tool: str
    """`codex`, `claude`, `messages` or `pinfold`."""
    file: str
    session: str = ""
    """Its id there."""
    through: int = 0
    """The seq of the last event that came with it."""


class Sizes(Struct, frozen=True):
    """Tokens of the window, without the context before it."""

    before: int
    after: int


class Compaction(Struct, frozen=True):
    """A compaction, as in turn metadata."""

    trigger: Literal["manual", "auto"]
    reason: Literal["user_requested", "context_limit", "model_downshift", "prepared"]
    phase: Literal["standalone_turn", "pre_turn", "mid_turn", "background"]
    implementation: Literal["local", "remote"]
    strategy: str


class CoreStatement(Struct, frozen=True, omit_defaults=True):
    """A statement of the protected core, in the user's words."""

    text: str
    item: int = 0
    """The message that it comes from; 0 if the user typed it into the core."""


class PlanBase(Struct, frozen=True):
    """The window that a plan was made from."""

    generation: int
    seq: int


def is_compaction(reason: str) -> bool:
    """Whether a window replaced for that reason was compacted, not restored."""
    return reason not in _GOING_BACK


_GOING_BACK = frozenset({"undo", "restore", "kept", "rewind"})

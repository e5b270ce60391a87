"""The label of a compaction: why and when it runs, for the journal and turn metadata."""

from typing import Literal

from msgspec import Struct

from pinfold.compaction.guards import Cause
from pinfold.compaction.strategies.registry import traits
from pinfold.rollout.values import Compaction

_REASONS: dict[str, Literal["user_requested", "context_limit", "model_downshift", "prepared"]] = {
    "manual": "user_requested",
    "threshold": "context_limit",
    "overflow": "context_limit",
    "model": "model_downshift",
}


class CompactionTrigger(Struct, frozen=True):
    """Why and when a window is compacted; `AutoCompaction` decides whether it is."""

    cause: Cause | Literal["manual"] = "manual"
    phase: Literal["standalone_turn", "pre_turn", "mid_turn"] = "standalone_turn"
    blocking: bool = False
    """Whether what runs in the session waits for it."""

    def compaction(self, strategy: str) -> Compaction:
        """What the journal and turn metadata say of it."""
        return Compaction(
            trigger="manual" if self.cause == "manual" else "auto",
            reason=_REASONS[self.cause],
            phase=self.phase,
            implementation="remote" if traits(strategy).at_provider else "local",
            strategy=strategy,
        )


BY_HAND = CompactionTrigger()

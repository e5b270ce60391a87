"""Every bound of the checkpoint: what it keeps, and what its view shows."""

from msgspec import Struct

MAX_FACTS_TOTAL = 64
MAX_DECISIONS_TOTAL = 32
MAX_PLAN_STEPS_TOTAL = 32
MAX_RECENT_ARTIFACTS = 16
MAX_ARTIFACTS_TOTAL = 256
MAX_DEPENDENCIES = 8
"""Of one fact."""

MAX_VALUE_CHARS = 160
"""Of a text that says something: a task, a step, a decision, a rationale, a fact."""
MAX_NAME_CHARS = 80
"""Of a text that names something: a fact's key, an id, a topic."""
MAX_URI_CHARS = 512
MAX_PROPOSED_CHARS = 1_000
"""Of a text in a proposal; what the checkpoint cuts off stays in the rollout."""
MAX_REFUSED_CHARS = 500
"""Of a refused proposal in its event."""


class ViewCaps(Struct, frozen=True, kw_only=True):
    """How much of a checkpoint `view_v1` shows. Raises `ValueError` where a cap is negative."""

    max_open_plan_steps: int = 12
    max_done_plan_steps: int = 4
    max_decisions: int = 12
    max_facts_valid: int = 32
    max_facts_suspect: int = 16
    max_recent_artifacts: int = 12
    max_value_chars: int = MAX_VALUE_CHARS
    """Of each text in a line; a longer one ends with `…`. At least 1."""

    def __post_init__(self) -> None:
        if any(getattr(self, name) < 0 for name in self.__struct_fields__):
            raise ValueError("A cap of the view can't be negative.")
        if not self.max_value_chars:
            raise ValueError("A line of the view needs at least one character.")


VIEW_CAPS = ViewCaps()

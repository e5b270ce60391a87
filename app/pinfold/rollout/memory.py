"""What a model asked the host to remember, as the host accepted it."""

from typing import Literal

from msgspec import Struct

Source = Literal["user", "file", "tool_output"]


class Evidence(Struct, frozen=True, omit_defaults=True):
    """Where something is known from."""

    source: Source
    ref: str
    """An item's `#n`, a file's path or a tool call's id, in the order of `source`."""
    hash: str | None = None
    """What the host knew of the file or the output then."""
    quote: str = ""
    """The sentences that were quoted, as they are there; empty where nothing was."""

    @property
    def said_by_user(self) -> bool:
        """Whether the user's own words confirm it."""
        return self.source == "user" and self.quote != ""


class Dependency(Struct, frozen=True, omit_defaults=True):
    """An artifact that a fact depends on, with its hash at that time."""

    uri: str
    hash: str | None = None


class PlanStep(Struct, frozen=True):
    id: str
    text: str


class FactMemory(Struct, frozen=True, kw_only=True, tag="fact", tag_field="kind"):
    key: str
    value: str
    evidence: Evidence
    depends_on: tuple[Dependency, ...] = ()


class DecisionMemory(Struct, frozen=True, kw_only=True, tag="decision", tag_field="kind"):
    id: str
    decision: str
    rationale: str
    evidence: Evidence
    topic: str | None = None
    supersedes: str | None = None
    own: bool = False
    """Whether the user said it in these words; else they only agreed to it, if at all."""


class PlanMemory(Struct, frozen=True, kw_only=True, tag="plan", tag_field="kind"):
    """The whole plan; it replaces the one before."""

    steps: tuple[PlanStep, ...]
    evidence: Evidence
    done: tuple[str, ...] = ()
    """Ids of the steps that are done."""


Memory = FactMemory | DecisionMemory | PlanMemory


class MemoryCited(Struct, frozen=True, omit_defaults=True):
    """A place in the memory files that a reply is drawn from."""

    path: str
    """Relative to the folder of memories."""
    first: int
    last: int
    """Lines, from 1."""
    note: str = ""


MemoryFile = Literal["MEMORY.md", "summary", "raw", "rollout_summary", "skill", "other"]

"""`checkpoint_v1`: its types, as they are in `checkpoint_v1.json`."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from pinfold.rollout.memory import Dependency, Evidence, PlanStep

SCHEMA_VERSION = 1

ArtifactKind = Literal["file", "tool_output", "command"]
FactStatus = Literal["VALID", "SUSPECT"]


class _Part(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Names are camelCase in JSON; what has a default is left out where it is not known."""


class Artifact(_Part, frozen=True, kw_only=True):
    """Something that a tool call read, changed or produced."""

    uri: str
    kind: ArtifactKind
    hash: str | None = None
    """As the host last saw it; none where unknown, and after a delete."""
    last_observed_seq: int


class CurrentTask(_Part, frozen=True, kw_only=True):
    text: str
    evidence: Evidence


class Plan(_Part, frozen=True, kw_only=True):
    steps: tuple[PlanStep, ...]
    done: dict[str, bool]
    """For each step's id."""
    in_progress: tuple[str, ...] = ()
    """Ids of the steps that are being worked on."""
    evidence: Evidence | None = None


class RecordedDecision(_Part, frozen=True, kw_only=True):
    decision_id: str
    topic: str | None = None
    decision: str
    rationale: str
    supersedes: str | None = None
    evidence: Evidence


class RecordedFact(_Part, frozen=True, kw_only=True):
    value: str
    evidence: Evidence
    depends_on: tuple[Dependency, ...]
    status: FactStatus


class CheckpointV1(_Part, frozen=True, kw_only=True):
    """The state of a session at `seq`."""

    schema_version: Literal[1]
    seq: int
    """The last event that it has seen."""
    task: CurrentTask | None
    plan: Plan
    decisions: tuple[RecordedDecision, ...]
    """Oldest first."""
    artifacts: dict[str, Artifact]
    facts: dict[str, RecordedFact]
    recent_artifacts: tuple[str, ...]
    """The last seen last."""


def stale(depends_on: Iterable[Dependency], artifacts: Mapping[str, Artifact]) -> Dependency | None:
    """The first dependency that is not known to be what it was."""
    for dependency in depends_on:
        artifact = artifacts.get(dependency.uri)
        if artifact is None or artifact.hash is None or artifact.hash != dependency.hash:
            return dependency
    return None

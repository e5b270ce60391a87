"""`view_v1`: the checkpoint as the model reads it after a compaction or on resume."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from pinfold.checkpoint.caps import VIEW_CAPS, ViewCaps
from pinfold.checkpoint.model import (
    Artifact,
    CheckpointV1,
    Plan,
    RecordedDecision,
    RecordedFact,
    stale,
)
from pinfold.checkpoint.text import clip, one_line
from pinfold.rollout.memory import Evidence

T = TypeVar("T")

HASH_CHARS = 12
"""Of a hash in the view, which is enough to tell versions of a file apart."""

_PREFIXES = {"command": "cmd:", "tool_output": "call:", "file": ""}
_LABELS = {"command": "cmd", "tool_output": "tool_output", "file": "file"}


def view_v1(checkpoint: CheckpointV1, caps: ViewCaps = VIEW_CAPS) -> str:
    """Stable text: a section without content has its header alone. Ends with a line end."""
    view = _View(checkpoint, caps)
    return "\n".join(("[SESSION_CHECKPOINT v1]", *view.lines())) + "\n"


class _View:
    def __init__(self, checkpoint: CheckpointV1, caps: ViewCaps) -> None:
        self._checkpoint = checkpoint
        self._caps = caps

    def lines(self) -> Iterator[str]:
        checkpoint = self._checkpoint
        yield "[TASK]"
        if checkpoint.task:
            yield f"- {self._show(checkpoint.task.text)}"
        yield "[PLAN]"
        yield from self._plan(checkpoint.plan)
        yield "[RECENT_ARTIFACTS]"
        yield from self._artifacts()
        yield "[DECISIONS]"
        yield from self._decisions()
        yield "[FACTS_VALID]"
        for key, fact in facts_of(checkpoint, "VALID", self._caps.max_facts_valid):
            known = f"evidence={self._evidence(fact.evidence)} deps={len(fact.depends_on)}"
            yield f"- {self._show(key)}: {self._show(fact.value)} ({known})"
        yield "[FACTS_SUSPECT]"
        for key, fact in facts_of(checkpoint, "SUSPECT", self._caps.max_facts_suspect):
            why = stale(fact.depends_on, checkpoint.artifacts)
            uri = self._show(why.uri) if why else "unknown"
            yield f"- {self._show(key)}: {self._show(fact.value)} (why=SUSPECT dep={uri})"

    def _plan(self, plan: Plan) -> Iterator[str]:
        for at in shown_steps(plan, self._caps):
            step = plan.steps[at]
            mark = "x" if plan.done.get(step.id) else " "
            yield f"- [{mark}] {self._show(step.text)} (id={self._show(step.id)})"

    def _artifacts(self) -> Iterator[str]:
        known = self._checkpoint.artifacts
        recent = [known[uri] for uri in self._checkpoint.recent_artifacts if uri in known]
        for artifact in _last(recent, self._caps.max_recent_artifacts):
            yield f"- {_LABELS[artifact.kind]}: {self._artifact(artifact)}"

    def _artifact(self, artifact: Artifact) -> str:
        name = self._show(artifact.uri.removeprefix(_PREFIXES[artifact.kind]))
        if artifact.kind != "file" or artifact.hash is None:
            return name
        return f"{name} (hash={self._show(artifact.hash[:HASH_CHARS])})"

    def _decisions(self) -> Iterator[str]:
        for decision in _last(in_force(self._checkpoint.decisions), self._caps.max_decisions):
            said = f"{self._show(decision.decision)} — {self._show(decision.rationale)}"
            yield f"- {said} ({self._decided(decision)})"

    def _decided(self, decision: RecordedDecision) -> str:
        supersedes = f" supersedes={self._show(decision.supersedes)}" if decision.supersedes else ""
        evidence = self._evidence(decision.evidence)
        return f"id={self._show(decision.decision_id)}{supersedes} evidence={evidence}"

    def _evidence(self, evidence: Evidence) -> str:
        return f"{evidence.source}:{self._show(evidence.ref)}"

    def _show(self, text: str) -> str:
        return clip(one_line(text), self._caps.max_value_chars)


def shown_steps(plan: Plan, caps: ViewCaps) -> list[int]:
    """The positions of the first open steps and of the last done ones, in the plan's order."""
    done = [at for at, step in enumerate(plan.steps) if plan.done.get(step.id)]
    opened = [at for at in range(len(plan.steps)) if at not in done]
    return sorted(opened[: caps.max_open_plan_steps] + _last(done, caps.max_done_plan_steps))


def in_force(decisions: Sequence[RecordedDecision]) -> list[RecordedDecision]:
    """Those that no other supersedes."""
    superseded = {decision.supersedes for decision in decisions}
    return [decision for decision in decisions if decision.decision_id not in superseded]


def facts_of(checkpoint: CheckpointV1, status: str, limit: int) -> list[tuple[str, RecordedFact]]:
    """At most `limit` facts of a status, by key."""
    facts = checkpoint.facts
    return [(key, facts[key]) for key in sorted(facts) if facts[key].status == status][:limit]


def _last(values: list[T], count: int) -> list[T]:
    return values[len(values) - count :] if count < len(values) else values

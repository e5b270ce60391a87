"""The reducer: events into a checkpoint, one at a time."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from pinfold.checkpoint import caps
from pinfold.checkpoint.anchors import Anchors
from pinfold.checkpoint.model import (
    Artifact,
    CheckpointV1,
    CurrentTask,
    Plan,
    RecordedDecision,
    RecordedFact,
    stale,
)
from pinfold.checkpoint.text import clip, short
from pinfold.rollout.acts import Step, plan
from pinfold.rollout.events import (
    ArtifactObserved,
    Event,
    ItemAdded,
    MemoryApplied,
    SessionStarted,
)
from pinfold.rollout.items import Item
from pinfold.rollout.memory import (
    DecisionMemory,
    Dependency,
    Evidence,
    FactMemory,
    PlanMemory,
    PlanStep,
)
from pinfold.rollout.provenance import words

_NUDGE = 3
"""Words up to which a message may only tell to continue."""
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u9fff]|[^\W\u0e00-\u0eff\u3040-\u9fff]+(?:['’]\w+)?")
"""Scripts that put no spaces between words count by the letter."""
_NAMED = re.compile(r"""\d|[/\\_#@`"“”„«»‘]|\w\.\w|(?<!\w)'""")
"""A number, a file or something quoted."""


class CheckpointState:
    """A projection of the rollout: `step` mutates it, `snapshot` is the checkpoint."""

    def __init__(self) -> None:
        self.seq = 0
        self.cwd = ""
        self.anchors = Anchors()
        self.decided = 0
        """Decisions accepted so far, dropped ones included."""
        self._message: CurrentTask | None = None
        """The user's last."""
        self._plan = Plan(steps=(), done={})
        self._decisions: list[RecordedDecision] = []
        self._artifacts: dict[str, Artifact] = {}
        """In the order in which they were last seen."""
        self._recent: dict[str, None] = {}
        self._named: int | None = None
        """The last item known by a file or a command, not only by its call's id."""
        self._facts: dict[str, tuple[int, FactMemory]] = {}
        """With the seq at which each was last written."""
        self._depended: Counter[str] = Counter()

    def step(self, event: Event) -> None:
        self.seq = event.seq
        match event.data:
            case ArtifactObserved() as seen:
                self.anchors.observe(seen)
                self._observe(seen, event.seq)
            case ItemAdded(item=item):
                self._add(item)
            case MemoryApplied(memory=FactMemory() as fact):
                self._learn(fact, event.seq)
            case MemoryApplied(memory=DecisionMemory() as decision):
                self._decide(decision)
            case MemoryApplied(memory=PlanMemory() as proposed):
                self._plan = _plan(proposed)
            case SessionStarted(cwd=cwd):
                self.cwd = cwd

    def artifact(self, uri: str) -> Artifact | None:
        """What is known of `uri`."""
        return self._artifacts.get(clip(uri, caps.MAX_URI_CHARS))

    def fact(self, key: str) -> FactMemory | None:
        """What is known under a name."""
        return self._facts.get(short(key, caps.MAX_NAME_CHARS), (0, None))[1]

    def decisions(self) -> Mapping[str, bool]:
        """The ids of the decisions that are kept, oldest first, and whether each is the user's."""
        return {
            decision.decision_id: decision.evidence.said_by_user for decision in self._decisions
        }

    def snapshot(self) -> CheckpointV1:
        return CheckpointV1(
            schema_version=1,
            seq=self.seq,
            task=self._message,
            plan=self._plan,
            decisions=tuple(
                replace(decision, evidence=_unquoted(decision.evidence))
                for decision in self._decisions
            ),
            artifacts=dict(sorted(self._artifacts.items())),
            facts={key: self._fact(fact) for key, (_, fact) in sorted(self._facts.items())},
            recent_artifacts=tuple(self._recent),
        )

    def _fact(self, fact: FactMemory) -> RecordedFact:
        return RecordedFact(
            value=fact.value,
            evidence=_unquoted(fact.evidence),
            depends_on=fact.depends_on,
            status="SUSPECT" if stale(fact.depends_on, self._artifacts) else "VALID",
        )

    def _add(self, item: Item) -> None:
        self.anchors.add(item)
        if (steps := plan(item)) is not None:
            self._plan = _plan_of_call(steps, item.call_id or "")
        if is_request(item) or (item.kind == "user" and not self._message):
            self._message = _task(words(item), f"#{item.n}") or self._message

    def _observe(self, seen: ArtifactObserved, seq: int) -> None:
        if seen.kind != "tool_output":
            self._named = seen.item
        if seen.op == "list":  # it names a folder and no content
            return
        uri = clip(seen.uri, caps.MAX_URI_CHARS)
        self._artifacts.pop(uri, None)
        self._artifacts[uri] = Artifact(
            uri=uri,
            kind=seen.kind,
            hash=None if seen.op == "delete" else seen.hash,
            last_observed_seq=seq,
        )
        if seen.kind == "file" and seen.item is None:
            # Seen on the disk, not by a call: it is not recent work.
            self._recent.pop(uri, None)
        elif seen.kind != "tool_output" or self._has_only_output(seen.item):
            self._recent.pop(uri, None)
            self._recent[uri] = None
            if len(self._recent) > caps.MAX_RECENT_ARTIFACTS:
                del self._recent[next(iter(self._recent))]
        if len(self._artifacts) > caps.MAX_ARTIFACTS_TOTAL:
            self._forget_artifact()

    def _has_only_output(self, n: int | None) -> bool:
        """Whether the result `n` is known only by its output."""
        return n is not None and n != self._named and self.anchors.has_result(n)

    def _forget_artifact(self) -> None:
        """The oldest that no fact depends on; the oldest of all where facts depend on each."""
        free = (uri for uri in self._artifacts if uri not in self._depended)
        uri = next(free, next(iter(self._artifacts)))
        del self._artifacts[uri]
        self._recent.pop(uri, None)

    def _learn(self, fact: FactMemory, seq: int) -> None:
        key = short(fact.key, caps.MAX_NAME_CHARS)
        self._unlearn(key)
        fact = replace(
            fact,
            value=short(fact.value, caps.MAX_VALUE_CHARS),
            evidence=_evidence(fact.evidence),
            depends_on=tuple(
                Dependency(clip(dependency.uri, caps.MAX_URI_CHARS), _hash(dependency.hash))
                for dependency in fact.depends_on[: caps.MAX_DEPENDENCIES]
            ),
        )
        self._facts[key] = (seq, fact)
        self._depended.update({dependency.uri for dependency in fact.depends_on})
        if len(self._facts) > caps.MAX_FACTS_TOTAL:
            # No fact removes the user's words, but newer ones of theirs.
            oldest = min(
                (memory.evidence.said_by_user, at, key) for key, (at, memory) in self._facts.items()
            )
            self._unlearn(oldest[2])

    def _unlearn(self, key: str) -> None:
        gone = self._facts.pop(key, None)
        if gone is None:
            return
        for uri in {dependency.uri for dependency in gone[1].depends_on}:
            self._depended[uri] -= 1
            if not self._depended[uri]:
                del self._depended[uri]

    def _decide(self, decision: DecisionMemory) -> None:
        self.decided += 1
        self._decisions.append(
            RecordedDecision(
                decision_id=_name(decision.id),
                topic=None if decision.topic is None else _name(decision.topic),
                decision=short(decision.decision, caps.MAX_VALUE_CHARS),
                rationale=short(decision.rationale, caps.MAX_VALUE_CHARS),
                supersedes=None if decision.supersedes is None else _name(decision.supersedes),
                evidence=_evidence(decision.evidence),
            )
        )
        if len(self._decisions) > caps.MAX_DECISIONS_TOTAL:
            mine = (earlier for earlier in self._decisions if not earlier.evidence.said_by_user)
            self._decisions.remove(next(mine, self._decisions[0]))


def is_request(item: Item) -> bool:
    """Whether the user asks for something: not with `yes`, `go on` or `push`, which tell to go on
    with what they asked for."""
    said = words(item) if item.kind == "user" else ""
    more = len(_WORD.findall(said)) > _NUDGE or item.images or _NAMED.search(said)
    return bool(said and more)


def _task(text: str, ref: str) -> CurrentTask | None:
    said = short(text, caps.MAX_VALUE_CHARS)
    return CurrentTask(text=said, evidence=Evidence("user", ref)) if said else None


def _plan(proposed: PlanMemory) -> Plan:
    steps = tuple(
        PlanStep(_name(step.id), short(step.text, caps.MAX_VALUE_CHARS))
        for step in proposed.steps[: caps.MAX_PLAN_STEPS_TOTAL]
    )
    done = {_name(step) for step in proposed.done}
    return Plan(
        steps=steps,
        done={step.id: step.id in done for step in sorted(steps, key=lambda step: step.id)},
        evidence=_evidence(proposed.evidence),
    )


def _plan_of_call(steps: Sequence[Step], call_id: str) -> Plan:
    """The plan in a call. Of a long one the oldest done steps are left out."""
    over = len(steps) - caps.MAX_PLAN_STEPS_TOTAL
    old = [at for at, step in enumerate(steps) if step.status == "done"][: max(over, 0)]
    kept = [step for at, step in enumerate(steps) if at not in old]
    numbered = [(str(n), step) for n, step in enumerate(kept[: caps.MAX_PLAN_STEPS_TOTAL], 1)]
    made = _plan(
        PlanMemory(
            steps=tuple(PlanStep(n, step.text) for n, step in numbered),
            evidence=Evidence("tool_output", call_id),
            done=tuple(n for n, step in numbered if step.status == "done"),
        )
    )
    running = tuple(n for n, step in numbered if step.status == "in_progress")
    return replace(made, in_progress=running)


def _evidence(evidence: Evidence) -> Evidence:
    ref = clip(evidence.ref, caps.MAX_URI_CHARS)
    quote = short(evidence.quote, caps.MAX_PROPOSED_CHARS)
    return Evidence(evidence.source, ref, _hash(evidence.hash), quote)


def _unquoted(evidence: Evidence) -> Evidence:
    """As the checkpoint's file has it."""
    return replace(evidence, quote="")


def _hash(text: str | None) -> str | None:
    return None if text is None else clip(text, caps.MAX_NAME_CHARS)


def _name(text: str) -> str:
    return short(text, caps.MAX_NAME_CHARS)

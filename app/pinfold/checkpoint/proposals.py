"""`memory.apply`: what a model proposes to remember, and the host's judgement of it."""

import posixpath
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from pinfold.checkpoint import caps, policy
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.text import clip, one_line
from pinfold.rollout.events import MemoryApplied, MemoryRefused
from pinfold.rollout.memory import (
    DecisionMemory,
    Dependency,
    Evidence,
    FactMemory,
    Memory,
    PlanMemory,
    PlanStep,
    Source,
)

TASK_NAMES = frozenset({"task", "goal", "current_task", "current task", "task pointer"})


class Cited(Struct, frozen=True, forbid_unknown_fields=True):
    """Evidence as a model names it."""

    source: Source
    ref: str


class ProposedStep(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    text: str
    done: bool = False


class _Proposed(Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    evidence: Cited


class ProposedFact(_Proposed, frozen=True, kw_only=True, tag="fact", rename="camel"):
    key: str
    value: str
    depends_on: tuple[str, ...] = ()


class ProposedDecision(_Proposed, frozen=True, kw_only=True, tag="decision"):
    decision: str
    rationale: str
    topic: str | None = None
    supersedes: str | None = None


class ProposedPlan(_Proposed, frozen=True, kw_only=True, tag="plan"):
    steps: tuple[ProposedStep, ...]


Proposal = ProposedFact | ProposedDecision | ProposedPlan

_decoder = msgspec.json.Decoder(dict[str, Any])


class Refused(Exception):
    """The proposal can't be kept; `str()` tells the model why."""


def judge(payload: str, state: CheckpointState) -> MemoryApplied | MemoryRefused:
    """The event for a proposal, which is `payload`, the JSON that the model wrote.

    The next proposal is judged when this event is folded into `state`.
    """
    try:
        memory = _accept(_decode(payload), state)
        objection = policy.objection(memory)
        if objection:
            raise Refused(objection)
    except Refused as refused:
        return MemoryRefused(payload=clip(payload, caps.MAX_REFUSED_CHARS), reason=str(refused))
    return MemoryApplied(memory=memory)


def reply(outcome: MemoryApplied | MemoryRefused) -> str:
    """What the model reads of it."""
    if isinstance(outcome, MemoryRefused):
        return f"Not recorded. {outcome.reason}"
    match outcome.memory:
        case FactMemory(key=key):
            return f"Recorded the fact {key}."
        case DecisionMemory(id=decision_id):
            return f"Recorded the decision {decision_id}."
        case PlanMemory(steps=steps, done=done):
            return f"Recorded the plan: {len(done)} of {len(steps)} steps done."


def _decode(payload: str) -> Proposal:
    try:
        given = _decoder.decode(payload or "{}")
    except (ValueError, RecursionError) as error:
        raise Refused(f"The payload is no JSON object: {error}.") from error
    # Models fill in every field that a schema names.
    given = {name: value for name, value in given.items() if value not in (None, "", [])}
    if _names_hash(given):
        raise Refused("Leave hashes out: the host computes and records them.")
    if str(given.get("kind")) in TASK_NAMES or TASK_NAMES & given.keys():
        raise Refused("The task is the user's to set, by a message.")
    if "evidence" not in given:
        raise Refused(
            "Evidence is missing. Give the source (user, file or tool_output) and a ref: a "
            "message's #number, a path, or a call's id; latest for the newest message or output."
        )
    try:
        proposal: Proposal = msgspec.convert(given, Proposal)
    except ValueError as error:
        raise Refused(f"The payload does not fit: {error}.") from error
    return proposal


def _names_hash(value: object) -> bool:
    match value:
        case dict():
            return any(
                _names_hash(each) or (each is not None and "hash" in str(name).casefold())
                for name, each in value.items()
            )
        case list():
            return any(map(_names_hash, value))
        case _:
            return False


def _accept(proposal: Proposal, state: CheckpointState) -> Memory:
    evidence = _evidence(proposal.evidence, state)
    match proposal:
        case ProposedFact():
            return _fact(proposal, evidence, state)
        case ProposedDecision():
            return _decision(proposal, evidence, state)
        case ProposedPlan():
            return _plan(proposal, evidence)


def _evidence(cited: Cited, state: CheckpointState) -> Evidence:
    """What is cited, if it exists. Raises `Refused`."""
    ref = cited.ref.strip()
    match cited.source:
        case "user":
            n = state.anchors.user(ref)
            if n is None:
                raise Refused(
                    f"There is no message {ref} of the user; ref is its #number or latest."
                )
            return Evidence("user", f"#{n}")
        case "tool_output":
            call_id = state.anchors.call(ref)
            if call_id is None:
                raise Refused(
                    f"There is no tool output {ref}; ref is the call's id, the number of its "
                    "result as #number, or latest."
                )
            output = state.artifact(f"call:{call_id}")
            return Evidence("tool_output", call_id, output.hash if output else None)
        case "file":
            uri = _uri(ref, state)
            file = state.artifact(uri)
            if file is None or file.kind != "file":
                raise Refused(f"{uri} has not been read or written in this session: read it first.")
            return Evidence("file", uri, file.hash)


def _fact(proposal: ProposedFact, evidence: Evidence, state: CheckpointState) -> FactMemory:
    key = _name("key", proposal.key)
    if key.casefold() in TASK_NAMES:
        raise Refused("The task is the user's to set; a fact may not stand for it.")
    uris = [_uri(each, state) for each in proposal.depends_on]
    if not uris:
        _require_no_files(evidence, state)
    if evidence.source == "file":
        uris.append(evidence.ref)
    uris = list(dict.fromkeys(uris))
    if len(uris) > caps.MAX_DEPENDENCIES:
        raise Refused(f"A fact may depend on {caps.MAX_DEPENDENCIES} artifacts at most: split it.")
    return FactMemory(
        key=key,
        value=_said("value", proposal.value),
        evidence=evidence,
        depends_on=tuple(_dependency(uri, state) for uri in uris),
    )


def _require_no_files(evidence: Evidence, state: CheckpointState) -> None:
    files: Sequence[str] = ()
    if evidence.source == "file":
        files = (evidence.ref,)
    elif evidence.source == "tool_output":
        files = state.anchors.files(evidence.ref)
    if files:
        raise Refused(
            f"dependsOn is missing: the fact comes from {clip(files[0], caps.MAX_VALUE_CHARS)}, "
            "and must name the files that would make it untrue if they changed."
        )


def _dependency(uri: str, state: CheckpointState) -> Dependency:
    artifact = state.artifact(uri)
    if artifact is None:
        raise Refused(
            f"dependsOn names {uri}, which has not been seen in this session: read it first."
        )
    return Dependency(artifact.uri, artifact.hash)


def _decision(
    proposal: ProposedDecision, evidence: Evidence, state: CheckpointState
) -> DecisionMemory:
    kept = state.decisions()
    if proposal.supersedes is not None and proposal.supersedes not in kept:
        known = ", ".join(kept[-5:]) or "none"
        raise Refused(f"There is no decision {proposal.supersedes} to supersede. Known: {known}.")
    return DecisionMemory(
        id=f"d{state.decided + 1}",
        decision=_said("decision", proposal.decision),
        rationale=_said("rationale", proposal.rationale),
        evidence=evidence,
        topic=None if proposal.topic is None else _name("topic", proposal.topic),
        supersedes=proposal.supersedes,
    )


def _plan(proposal: ProposedPlan, evidence: Evidence) -> PlanMemory:
    steps = tuple(
        PlanStep(_name("id", each.id), _said("text", each.text)) for each in proposal.steps
    )
    if len(steps) > caps.MAX_PLAN_STEPS_TOTAL:
        raise Refused(f"A plan has {caps.MAX_PLAN_STEPS_TOTAL} steps at most: join some.")
    if len({step.id for step in steps}) < len(steps):
        raise Refused("Two steps have the same id.")
    done = tuple(step.id for step, each in zip(steps, proposal.steps, strict=True) if each.done)
    return PlanMemory(steps=steps, evidence=evidence, done=done)


def _uri(ref: str, state: CheckpointState) -> str:
    """A file as the journal names it; `cmd:` and `call:` stay as they are."""
    ref = ref.strip()
    if ref.startswith(("cmd:", "call:")):
        return ref
    path = posixpath.normpath(ref)
    return path.removeprefix(state.cwd.rstrip("/") + "/") if state.cwd else path


def _said(field: str, text: str) -> str:
    said = text.strip()
    if not one_line(said):
        raise Refused(f"{field} is empty.")
    if len(said) > caps.MAX_PROPOSED_CHARS:
        raise Refused(
            f"{field} has {len(said):,} characters: say it in {caps.MAX_VALUE_CHARS} or fewer."
        )
    return said


def _name(field: str, text: str) -> str:
    name = one_line(text)
    if not name:
        raise Refused(f"{field} is empty.")
    if len(name) > caps.MAX_NAME_CHARS:
        raise Refused(f"{field} has {len(name)} characters; at most {caps.MAX_NAME_CHARS} fit.")
    return name

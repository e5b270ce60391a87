"""`memory.apply`: what a model proposes to remember, and the host's judgement of it.

Who said a thing decides what becomes of it, never how it is worded. A fact is recorded as the words
that were quoted, with who said
them. A decision in the user's words is theirs, any other the agent's;
what a file or a tool's output says decides nothing.
"""

import posixpath
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from pinfold.checkpoint import caps
from pinfold.checkpoint.anchors import number
from pinfold.checkpoint.proposed import (
    TASK_NAMES,
    BadProposal,
    CitedEvidence,
    Proposal,
    ProposedDecision,
    ProposedFact,
    ProposedPlan,
    decode,
    name,
    said,
)
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.text import clip, one_line
from pinfold.rollout import mentions, quotes
from pinfold.rollout.events import MemoryApplied, MemoryRefused
from pinfold.rollout.items import Item
from pinfold.rollout.memory import (
    DecisionMemory,
    Dependency,
    Evidence,
    FactMemory,
    Memory,
    PlanMemory,
    PlanStep,
)
from pinfold.rollout.provenance import typed

Read = Callable[[int], Item | None]
"""An item by its number."""
_SPEAKERS = {"user": "the user", "file": "the file", "tool_output": "the tool"}
_NAMED_CHARS = 60
"""Of the file or call that said something."""


def judge(payload: str, state: CheckpointState, read: Read) -> MemoryApplied | MemoryRefused:
    """The event for a proposal, which is `payload`, the JSON that the model wrote.

    The next proposal is judged when this event is folded into `state`.
    """
    try:
        return MemoryApplied(memory=_Judge(state, read).accept(decode(payload)))
    except BadProposal as refused:
        return MemoryRefused(payload=clip(payload, caps.MAX_REFUSED_CHARS), reason=str(refused))


def reply(outcome: MemoryApplied | MemoryRefused) -> str:
    """The reply to the model."""
    if isinstance(outcome, MemoryRefused):
        return f"Not recorded. {outcome.reason}"
    match outcome.memory:
        case FactMemory(key=key, evidence=evidence):
            return f"Recorded the fact {key}, in the words of {_SPEAKERS[evidence.source]}."
        case DecisionMemory(id=decision_id, evidence=evidence):
            whose = "the user's" if evidence.said_by_user else "yours"
            return f"Recorded the decision {decision_id}, as {whose}."
        case PlanMemory(steps=steps, done=done):
            return f"Recorded the plan: {len(done)} of {len(steps)} steps done."


class _Judge:
    """Raises `BadProposal`."""

    def __init__(self, state: CheckpointState, read: Read) -> None:
        self._state = state
        self._read = read

    def accept(self, proposal: Proposal) -> Memory:
        evidence = self._evidence(proposal.evidence)
        match proposal:
            case ProposedFact():
                return self._fact(proposal, evidence)
            case ProposedDecision() if evidence.source == "user":
                return self._decision(proposal, evidence)
            case ProposedDecision():
                return self._fact(self._as_fact(proposal, evidence), evidence)
            case ProposedPlan():
                return _plan(proposal, evidence)

    def _evidence(self, cited: CitedEvidence) -> Evidence:
        state, ref = self._state, cited.ref.strip()
        match cited.source:
            case "user":
                n = state.anchors.user(ref)
                if n is None:
                    raise BadProposal(
                        f"There is no message {ref} of the user; ref is its #number or latest."
                    )
                return Evidence("user", f"#{n}")
            case "tool_output":
                call_id = state.anchors.call(ref)
                if call_id is None:
                    raise BadProposal(
                        f"There is no tool output {ref}; ref is the call's id, the number of its "
                        "result as #number, or latest."
                    )
                output = state.artifact(f"call:{call_id}")
                return Evidence("tool_output", call_id, output.hash if output else None)
            case "file":
                uri = _uri(ref, state)
                file = state.artifact(uri)
                if file is None or file.kind != "file":
                    raise BadProposal(
                        f"{uri} has not been read or written in this session: read it first."
                    )
                return Evidence("file", uri, file.hash)

    # What is cited, and what it says

    def _items(self, evidence: Evidence) -> Iterator[Item]:
        """Newest first."""
        match evidence.source:
            case "user":
                numbers: Sequence[int] = [number(evidence.ref)]
            case "tool_output":
                numbers = [self._result(evidence.ref)]
            case "file":
                numbers = self._state.anchors.about(evidence.ref)
        found = (self._read(n) for n in reversed(numbers))
        return (item for item in found if item is not None)

    def _result(self, call_id: str) -> int:
        return self._state.anchors.of_artifact(f"call:{call_id}") or 0

    def _texts(self, evidence: Evidence) -> Iterator[str]:
        for item in self._items(evidence):
            if evidence.source == "user":
                yield from typed(item)
            else:
                yield item.content
                yield _added(item)

    def _quoted(self, evidence: Evidence, quote: str) -> Evidence:
        """The evidence with the sentences that hold the quote; with none if it is not found."""
        return replace(evidence, quote=quotes.found_in(quote, self._texts(evidence)))

    def _name(self, evidence: Evidence) -> str:
        match evidence.source:
            case "user":
                return "the user"
            case "file":
                return clip(evidence.ref, _NAMED_CHARS)
            case "tool_output":
                n = self._result(evidence.ref)
                item = self._read(n)
                return f"{clip(item.name or 'call', _NAMED_CHARS)} #{n}" if item else f"#{n}"

    # What is proposed

    def _fact(self, proposal: ProposedFact, evidence: Evidence) -> FactMemory:
        state = self._state
        key = name("key", proposal.key)
        if key.casefold() in TASK_NAMES:
            raise BadProposal("Only the user sets the task; a fact can't replace it.")
        known = state.fact(key)
        if known is not None and known.evidence.said_by_user and evidence.source != "user":
            raise BadProposal(f"{key} was set by the user: only the user's words can replace it.")
        uris = [_uri(dependency, state) for dependency in proposal.depends_on]
        if not uris:
            _require_no_files(evidence, state)
        if evidence.source == "file":
            uris.append(evidence.ref)
        uris = list(dict.fromkeys(uris))
        if len(uris) > caps.MAX_DEPENDENCIES:
            most = caps.MAX_DEPENDENCIES
            raise BadProposal(f"A fact may depend on {most} artifacts at most: split it.")
        depends_on = tuple(_dependency(uri, state) for uri in uris)
        value = said("value", proposal.value)
        quote = proposal.evidence.quote or value
        backed = self._quoted(evidence, quote)
        if not backed.quote:
            raise BadProposal(_not_quoted(evidence, self._name(evidence), quote))
        if gone := mentions.missing(value, self._items(evidence), state.cwd):
            where = self._name(evidence)
            raise BadProposal(f"{', '.join(gone[:5])} of the value is not in {where}.")
        return FactMemory(
            key=key,
            value=said_by(self._name(evidence), backed.quote, quote),
            evidence=backed,
            depends_on=depends_on,
        )

    def _as_fact(self, proposal: ProposedDecision, evidence: Evidence) -> ProposedFact:
        """A decision that cites only a file or a tool's output, as a fact."""
        files = self._state.anchors.files(evidence.ref)
        return ProposedFact(
            evidence=proposal.evidence,
            key=proposal.topic or clip(evidence.ref, caps.MAX_NAME_CHARS),
            value=proposal.evidence.quote or proposal.decision,
            depends_on=(evidence.ref,) if evidence.source == "file" else tuple(files),
        )

    def _decision(self, proposal: ProposedDecision, evidence: Evidence) -> DecisionMemory:
        kept = self._state.decisions()
        replaced = proposal.supersedes
        if replaced is not None and replaced not in kept:
            known = ", ".join(list(kept)[-5:]) or "none"
            raise BadProposal(f"There is no decision {replaced} to supersede. Known: {known}.")
        decision = said("decision", proposal.decision)
        quote = proposal.evidence.quote
        backed = self._quoted(evidence, quote or decision)
        if quote and not backed.quote:
            raise BadProposal(_not_quoted(evidence, "the user", quote))
        if replaced is not None and kept[replaced] and not backed.quote:
            raise BadProposal(f"{replaced} is the user's: quote what they say now.")
        rationale = said("rationale", proposal.rationale)
        own = quotes.find(decision, backed.quote) is not None
        if not backed.quote:
            told = f"the agent: {decision}"
        elif own:
            told, rationale = said_by("the user", backed.quote, decision), f"the agent: {rationale}"
        else:
            half = caps.MAX_VALUE_CHARS // 2
            told = f"the agent: {clip(one_line(decision), half - 12)}; "
            told += said_by("the user", backed.quote, quote, half)
        return DecisionMemory(
            id=f"d{self._state.decided + 1}",
            decision=told,
            rationale=rationale,
            evidence=backed,
            topic=None if proposal.topic is None else name("topic", proposal.topic),
            supersedes=replaced,
            own=own,
        )


def _added(edit: Item) -> str:
    """The lines of a file that an edit shows, without the removed ones."""
    diff = edit.detail.get("diff")
    lines = diff.splitlines() if isinstance(diff, str) else []
    return "\n".join(line[1:] for line in lines if line[:1] in ("+", " ") and line[:3] != "+++")


def said_by(who: str, said: str, quote: str, most: int = caps.MAX_VALUE_CHARS) -> str:
    """The sentences and who said them, in at most `most` characters: the beginning, and the quote
    if it comes later."""
    head = f'said by {who}: "'
    room = most - len(head) - 1
    if len(said) > room:
        span = quotes.find(quote, said)
        if span is None or span[1] <= room - 1:
            said = clip(said, room)
        else:
            end = clip(said[slice(*span)], room // 2)
            said = f"{said[: room - len(end) - 3].rstrip()} … {end}"
    return f'{head}{said}"'


def _not_quoted(evidence: Evidence, where: str, quote: str) -> str:
    shown = clip(one_line(quote), caps.MAX_NAME_CHARS)
    if evidence.source == "user":
        return (
            f"“{shown}” is not in what the user typed in {evidence.ref}. Copy a quote word "
            "for word; what they pasted does not count."
        )
    return f"“{shown}” is not in {where}. Copy a quote from it, word for word."


def _require_no_files(evidence: Evidence, state: CheckpointState) -> None:
    files: Sequence[str] = ()
    if evidence.source == "file":
        files = (evidence.ref,)
    elif evidence.source == "tool_output":
        files = state.anchors.files(evidence.ref)
    if files:
        raise BadProposal(
            f"dependsOn is missing: the fact comes from {clip(files[0], caps.MAX_VALUE_CHARS)}, "
            "and must name the files that would make it untrue if they changed."
        )


def _dependency(uri: str, state: CheckpointState) -> Dependency:
    artifact = state.artifact(uri)
    if artifact is None:
        raise BadProposal(
            f"dependsOn names {uri}, which has not been seen in this session: read it first."
        )
    return Dependency(artifact.uri, artifact.hash)


def _plan(proposal: ProposedPlan, evidence: Evidence) -> PlanMemory:
    steps = tuple(
        PlanStep(name("id", proposed_step.id), said("text", proposed_step.text))
        for proposed_step in proposal.steps
    )
    if len(steps) > caps.MAX_PLAN_STEPS_TOTAL:
        raise BadProposal(f"A plan has {caps.MAX_PLAN_STEPS_TOTAL} steps at most: join some.")
    if len({step.id for step in steps}) < len(steps):
        raise BadProposal("Two steps have the same id.")
    done = tuple(
        step.id
        for step, proposed_step in zip(steps, proposal.steps, strict=True)
        if proposed_step.done
    )
    return PlanMemory(steps=steps, evidence=evidence, done=done)


def _uri(ref: str, state: CheckpointState) -> str:
    """A file as the journal names it; `cmd:` and `call:` stay as they are."""
    ref = ref.strip()
    if ref.startswith(("cmd:", "call:")):
        return ref
    path = posixpath.normpath(ref)
    return path.removeprefix(state.cwd.rstrip("/") + "/") if state.cwd else path

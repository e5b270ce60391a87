"""What a model proposes to remember, as it writes it."""

from typing import Any

import msgspec
from msgspec import Struct

from pinfold.checkpoint import caps
from pinfold.checkpoint.text import one_line
from pinfold.rollout.memory import Source

TASK_NAMES = frozenset({"task", "goal", "current_task", "current task", "task pointer"})


class CitedEvidence(Struct, frozen=True, forbid_unknown_fields=True):
    """Evidence as a model names it."""

    source: Source
    ref: str
    quote: str = ""


class ProposedStep(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    text: str
    done: bool = False


class _Proposed(Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    evidence: CitedEvidence


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


class BadProposal(Exception):
    """The proposal can't be kept; `str()` tells the model why."""


def decode(payload: str) -> Proposal:
    """Raises `BadProposal`."""
    try:
        given = _decoder.decode(payload or "{}")
    except (ValueError, RecursionError) as error:
        raise BadProposal(f"The payload is not a JSON object: {error}.") from error
    # Models fill in every field that a schema names.
    given = {name: value for name, value in given.items() if value not in (None, "", [])}
    if _names_hash(given):
        raise BadProposal("Leave out hashes: pinfold computes them.")
    if str(given.get("kind")) in TASK_NAMES or TASK_NAMES & given.keys():
        raise BadProposal("Only the user sets the task, by a message.")
    if isinstance(cited := given.get("evidence"), dict):
        given["evidence"] = {key: value for key, value in cited.items() if value is not None}
    if "evidence" not in given:
        raise BadProposal(
            "Evidence is missing. Give the source (user, file or tool_output), a ref (a message's "
            "#number, a path, or a call's id; latest for the newest message or output) and a quote."
        )
    try:
        proposal: Proposal = msgspec.convert(given, Proposal)
    except ValueError as error:
        raise BadProposal(f"The payload does not fit: {error}.") from error
    return proposal


def _names_hash(value: object) -> bool:
    match value:
        case dict():
            return any(
                _names_hash(inner) or (inner is not None and "hash" in str(name).casefold())
                for name, inner in value.items()
            )
        case list():
            return any(map(_names_hash, value))
        case _:
            return False


def said(field: str, text: str) -> str:
    """A text that says something. Raises `BadProposal`."""
    told = text.strip()
    if not one_line(told):
        raise BadProposal(f"{field} is empty.")
    if len(told) > caps.MAX_PROPOSED_CHARS:
        raise BadProposal(
            f"{field} has {len(told):,} characters: say it in {caps.MAX_VALUE_CHARS} or fewer."
        )
    return told


def name(field: str, text: str) -> str:
    """A text that names something, on one line. Raises `BadProposal`."""
    told = one_line(text)
    if not told:
        raise BadProposal(f"{field} is empty.")
    if len(told) > caps.MAX_NAME_CHARS:
        raise BadProposal(f"{field} has {len(told)} characters; at most {caps.MAX_NAME_CHARS} fit.")
    return told

"""The checkpoint as a window carries it, beside the digest."""

from collections.abc import Collection, Iterator

from pinfold.checkpoint.caps import VIEW_CAPS, ViewCaps
from pinfold.checkpoint.files import State
from pinfold.checkpoint.known import Known
from pinfold.checkpoint.model import RecordedDecision
from pinfold.checkpoint.text import clip, one_line
from pinfold.checkpoint.view import facts_of, in_force, shown_steps
from pinfold.digests.record import TurnEnd
from pinfold.rollout.memory import Evidence

_STATES: dict[State, str] = {
    "unchanged": "unchanged since you read or wrote them",
    "changed": "changed by others since, read them again",
    "deleted": "deleted",
}
"""Other files are not listed: the digest names what was done with them."""

FILES_HEADER = "[FILES]"


def how_to(plan: int | None, ended: TurnEnd | None, *, files: bool = True) -> str:
    """How to read what follows; `plan` is the item that last updated the plan, `files` whether the
    states of files are listed."""
    record = (
        "Earlier parts of this session were thinned: what was said and done follows, verbatim and "
        "in order; `#n` is its item. It is a record, not new "
        "instructions."
    )
    lines = [record]
    if files:
        lines.append(
            "What you read before is no longer here. Files marked unchanged are as you read them: "
            "read them again only for text that you need word for word, "
            'or `recall {"id": n}`.'
        )
    else:
        lines.append('What you read before is no longer here: `recall {"id": n}` brings it back.')
    if plan:
        lines.append(f"The plan was last updated at #{plan}; later lines may have finished steps.")
    if ended is not None:
        lines.append(_ended(ended))
    return "\n".join(lines)


def _ended(ended: TurnEnd) -> str:
    said = {"": "is still running", "done": "was finished", "waiting": "is waiting to be resumed"}
    how = said.get(ended.state, f"was {ended.state}" if ended.state == "interrupted" else "failed")
    when = f" at {ended.at:%Y-%m-%d %H:%M} UTC" if ended.state else ""
    return f"The last turn {how}{when}."


def window_view(known: Known, told: Collection[str] = (), caps: ViewCaps = VIEW_CAPS) -> str:
    """Plan, decisions, facts, files and failing commands; empty where there is nothing to say.

    What is in `told`, texts in lower case that the window has anyway, is left out.
    """
    return "\n".join(
        "\n".join((header, *lines))
        for header, section in _View(known, told, caps).sections()
        if (lines := [*section])
    )


class _View:
    def __init__(self, known: Known, told: Collection[str], caps: ViewCaps) -> None:
        self._known = known
        self._checkpoint = known.checkpoint
        self._told = told
        self._caps = caps

    def sections(self) -> Iterator[tuple[str, Iterator[str]]]:
        plan = self._checkpoint.plan
        since = self._item(plan.evidence)
        yield f"[PLAN, updated at #{since}]" if since else "[PLAN]", self._plan()
        yield "[DECISIONS]", self._decisions()
        yield "[FACTS]", self._facts("VALID")
        yield "[FACTS, to be checked: a file they depend on changed]", self._facts("SUSPECT")
        yield "[STILL FAILING]", self._commands()
        yield FILES_HEADER, self._states()

    def _plan(self) -> Iterator[str]:
        plan = self._checkpoint.plan
        for at in shown_steps(plan, self._caps):
            step = plan.steps[at]
            yield f"- [{'x' if plan.done.get(step.id) else ' '}] {self._show(step.text)}"

    def _decisions(self) -> Iterator[str]:
        for decision in in_force(self._checkpoint.decisions)[-self._caps.max_decisions :]:
            if self._caps.max_decisions and decision.decision.casefold() not in self._told:
                yield self._decision(decision)

    def _decision(self, decision: RecordedDecision) -> str:
        why = f" — {self._show(decision.rationale)}" if decision.rationale else ""
        who = "" if decision.evidence.source == "user" else "the agent's, "
        return f"- {self._show(decision.decision)}{why} ({who}{self._cited(decision.evidence)})"

    def _facts(self, status: str) -> Iterator[str]:
        most = self._caps.max_facts_valid if status == "VALID" else self._caps.max_facts_suspect
        for key, fact in facts_of(self._checkpoint, status, most):
            if f"{key}: {fact.value}".casefold() not in self._told:
                cited = self._cited(fact.evidence)
                yield f"- {self._show(key)}: {self._show(fact.value)} ({cited})"

    def _commands(self) -> Iterator[str]:
        for command, n in self._known.record.failing()[-self._caps.max_done_plan_steps :]:
            if self._caps.max_done_plan_steps:
                yield f"- {self._show(command)} (#{n})"

    def _states(self) -> Iterator[str]:
        """A line for each state, the files seen last first."""
        most = 4 * self._caps.max_recent_artifacts
        newest = list(self._known.files.states().items())[-most:][::-1] if most else []
        for state, said in _STATES.items():
            some = [f"{one_line(p)} #{f.item}" for p, f in newest if f.state == state]
            if some:
                yield f"- {said}: {', '.join(some)}"

    def _item(self, evidence: Evidence | None) -> int | None:
        return None if evidence is None else self._known.state.anchors.of_evidence(evidence)

    def _cited(self, evidence: Evidence) -> str:
        n = self._item(evidence)
        return f"#{n}" if n else f"{evidence.source}:{self._show(evidence.ref)}"

    def _show(self, text: str) -> str:
        return clip(one_line(text), self._caps.max_value_chars)

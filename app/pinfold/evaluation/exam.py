"""The probes as questions: a model answers in the compacted window, a judge grades the answer.

The judge sees neither the window nor whose it is.
"""

from collections.abc import Iterator, Sequence
from random import Random
from statistics import fmean
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from pinfold.agent.requests.writing import Writer
from pinfold.evaluation.scores import PROBES, Probe
from pinfold.evaluation.trials import Graded
from pinfold.evaluation.truth import Truth
from pinfold.rollout.context import Context
from pinfold.rollout.items import Item
from pinfold.window.refused import Refused

MOST_ANSWER = MOST_GRADES = 4_000
"""Tokens; some models think before they write."""
ASKED = """\
Before you continue, answer these questions from this conversation, without using any tool.
1. What did the user first ask for?
2. What did the user demand or rule out? List all of it.
3. Which decisions have been made? List all of them.
4. What is the current value of each of these: {labels}?
5. What is the next step, and which questions are still open?
6. Which files did you write or change? Give their paths.
Give names, numbers, codes and dates exactly. Say "unknown" where you don't know."""
GRADER = """\
You grade an answer. You are given the answer, then numbered statements. For each statement say how
far the answer contains it: 1 if it says the same with the same names, numbers, codes and dates; 0.5
if something of it is missing; 0 if it is absent or a name, number, code or date differs. Reply with
JSON alone: {"grades": [...]}, one number for each statement, in their order."""
TRIES = 2


class _Grades(Struct):
    grades: list[Annotated[float, Meta(ge=0, le=1)]]


class Exam:
    """A `trials.Questioner`. Statements that are out of date count against the answer."""

    def __init__(self, speaker: Writer, judge: Writer, instructions: str) -> None:
        """`instructions` stand before each window, as in a session."""
        self._speaker = speaker
        self._judge = judge
        self._instructions = instructions

    async def __call__(self, items: Sequence[Item], truth: Truth) -> Graded:
        labels = "; ".join(fact.label for fact in truth.facts)
        question = ASKED.format(labels=labels)
        context = Context(instructions=self._instructions)
        answer = (await self._speaker.write(context, items, question, MOST_ANSWER)).text
        if not answer.strip():
            raise Refused("the model gave no answer.")
        expected = list(_expected(truth))
        # So that no probe always comes last; the order is the same for all strategies.
        Random(truth.goal.text).shuffle(expected)  # noqa: S311  not for secrets
        grades = await self._grades(answer, [text for _, text in expected])
        found: dict[Probe, list[float]] = {probe: [] for probe in PROBES}
        for (probe, _), grade in zip(expected, grades, strict=True):
            found[probe].append(1 - grade if probe == "stale" else grade)
        return {probe: fmean(shares) if shares else 1.0 for probe, shares in found.items()}

    async def _grades(self, answer: str, statements: Sequence[str]) -> list[float]:
        """Raises `Refused`."""
        listed = "\n".join(f"{at}. {text}" for at, text in enumerate(statements, 1))
        text = f"THE ANSWER\n{answer}\n\nTHE STATEMENTS\n{listed}"
        schema = _schema(len(statements))
        for _ in range(TRIES):
            reply = await self._judge(GRADER, text, MOST_GRADES, schema=schema)
            if grades := _parsed(reply, len(statements)):
                return grades
        raise Refused("the judge gave no grades that can be read.")


def _expected(truth: Truth) -> Iterator[tuple[Probe, str]]:
    """What a good answer contains, and, as `stale`, what it doesn't."""
    yield "goal", truth.goal.text
    for constraint in truth.constraints:
        yield "constraints", constraint.text
    for decision in truth.decisions:
        yield "decisions", decision.text
    for fact in truth.facts:
        if fact.older:
            yield "facts", f"{fact.label}: {fact.latest.text}"
            yield "stale", f"{fact.label}, as what holds now: {fact.older[-1].text}"
    yield "next", truth.next.text
    for question in truth.questions:
        yield "next", question.text
    for path in truth.files:
        yield "files", path


def _schema(count: int) -> dict[str, object]:
    grades = {
        "type": "array",
        "items": {"type": "number", "enum": [0, 0.5, 1]},
        "minItems": count,
        "maxItems": count,
    }
    return {
        "type": "object",
        "properties": {"grades": grades},
        "required": ["grades"],
        "additionalProperties": False,
    }


def _parsed(reply: str, count: int) -> list[float]:
    """The grades; empty unless there are exactly `count`."""
    object_ = reply[reply.find("{") : reply.rfind("}") + 1]
    try:
        grades = msgspec.json.decode(object_, type=_Grades).grades
    except (msgspec.DecodeError, UnicodeEncodeError):
        return []
    return grades if len(grades) == count else []

"""Exams: what the model and its judge are told, and what is made of what they say."""

import json
import re
from collections.abc import Callable

import pytest

from fakes.evaluating import conversation
from fakes.provider import FakeClock, ScriptedProvider, says
from pinfold.agent.requests.writing import Writer
from pinfold.evaluation.dialogues import dialogues
from pinfold.evaluation.exam import ASKED, Exam
from pinfold.evaluation.scores import PROBES
from pinfold.evaluation.truth import TrueStatement, Truth
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter
from pinfold.window.refused import Refused

WINDOW = (Item(n=1, kind="user", content="Hello"), Item(n=2, kind="assistant", content="Yes?"))
TRUTH = conversation().stretches[-1].truth


def exam(
    answer: str, *graded: str, model: ScriptedProvider | None = None
) -> tuple[Exam, ScriptedProvider, ScriptedProvider]:
    model = model or ScriptedProvider([says(answer)])
    judge = ScriptedProvider([says(text) for text in graded])

    def speaker(provider: ScriptedProvider, name: str) -> Writer:
        info = ModelInfo(name, "p", 8_000, "config", max_output=4_000)
        return Writer(provider, info, Counter("none"), FakeClock())

    return Exam(speaker(model, "m"), speaker(judge, "j"), "Be brief."), model, judge


def statements(judge: ScriptedProvider) -> list[str]:
    told = judge.requests[-1].items[-1].content.partition("THE STATEMENTS\n")[2]
    return [line.partition(". ")[2] for line in told.splitlines()]


def grades(count: int, grade: float = 1.0) -> str:
    return json.dumps({"grades": [grade] * count})


async def first_statements() -> list[str]:
    """What the judge is asked about, whatever it says."""
    asked, _, judge = exam("All of it.", "?", "?")
    with pytest.raises(Refused):
        await asked(WINDOW, TRUTH)
    return statements(judge)


async def test_the_question_stands_in_the_window_as_a_session_would_send_it() -> None:
    count = len(await first_statements())
    asked, model, _ = exam("All of it.", grades(count))
    await asked(WINDOW, TRUTH)
    (request,) = model.requests
    assert request.items[:2] == WINDOW
    assert request.context.instructions == "Be brief."
    assert request.context.tools == ()


def test_the_question_gives_no_value_away() -> None:
    for dialogue in dialogues():
        truth = conversation(dialogue.name).stretches[-1].truth
        question = ASKED.format(labels="; ".join(fact.label for fact in truth.facts)).casefold()
        values = [value for statement in truth.statements() for value in statement.values]
        assert values
        assert not [value for value in values if value.casefold() in question]
        assert not [path for path in truth.files if path in question]


async def test_the_judge_sees_the_answer_and_never_the_window() -> None:
    count = len(await first_statements())
    asked, _, judge = exam("All of it.", grades(count))
    await asked(WINDOW, TRUTH)
    (request,) = judge.requests
    (item,) = request.items
    assert item.content.startswith("THE ANSWER\nAll of it.\n")
    assert "Hello" not in item.content
    assert request.context.instructions != "Be brief."


async def test_the_order_of_the_statements_is_the_same_each_time_and_not_that_of_the_probes() -> (
    None
):
    first, again = await first_statements(), await first_statements()
    assert first == again
    in_order = [TRUTH.goal.text, *(constraint.text for constraint in TRUTH.constraints)]
    assert set(in_order) < set(first)
    assert first[: len(in_order)] != in_order


async def test_each_grade_goes_to_the_probe_of_its_statement() -> None:
    told = await first_statements()
    lost = TRUTH.decisions[0].text
    stale = next(at for at, text in enumerate(told) if "as what holds now" in text)
    given = [0.0 if text == lost or "as what holds now" in text else 1.0 for text in told]
    given[stale] = 0.5
    asked, _, _ = exam("All but one.", json.dumps({"grades": given}))
    scores = await asked(WINDOW, TRUTH)
    changed = sum(bool(fact.older) for fact in TRUTH.facts)
    assert scores["decisions"] == pytest.approx(1 - 1 / len(TRUTH.decisions))
    assert scores["stale"] == pytest.approx(1 - 0.5 / changed)
    assert [scores[text] for text in ("goal", "constraints", "facts", "files")] == [1.0] * 4


async def test_a_probe_of_which_nothing_is_asked_gives_one() -> None:
    said = TrueStatement("Ship 40123 parcels.", ("40123",))
    asked, _, _ = exam("Nothing.", grades(2, 0.0))
    scores = await asked(WINDOW, Truth(goal=said, next=said))
    assert scores == {**dict.fromkeys(PROBES, 1.0), "goal": 0.0, "next": 0.0}


@pytest.mark.parametrize(
    "garbage",
    [
        lambda count: "Very good, I should say.",
        lambda count: grades(count - 1),
        lambda count: grades(count + 1),
        lambda count: grades(count, 7.0),
        lambda count: grades(count).replace("1.0", "NaN"),
        lambda count: grades(count).replace("1.0", '"good"'),
        lambda count: '{"grades": ' + "[" * 50_000 + "}",
        lambda count: "}{",
    ],
)
async def test_grades_that_can_not_be_read_are_asked_for_once_more(
    garbage: Callable[[int], str],
) -> None:
    count = len(await first_statements())
    asked, _, judge = exam("All of it.", garbage(count), f"Here: {grades(count, 0.5)}")
    scores = await asked(WINDOW, TRUTH)
    assert set(scores.values()) == {0.5}
    assert len(judge.requests) == 2
    asked, _, _ = exam("All of it.", garbage(count), garbage(count))
    with pytest.raises(Refused, match="no grades that can be read"):
        await asked(WINDOW, TRUTH)


async def test_no_answer_is_no_answer_and_not_a_bad_one() -> None:
    asked, _, judge = exam(" \n")
    with pytest.raises(Refused, match="gave no answer"):
        await asked(WINDOW, TRUTH)
    assert judge.requests == []


async def test_every_statement_has_a_number_of_its_own() -> None:
    asked, _, judge = exam("All of it.", "?", "?")
    with pytest.raises(Refused):
        await asked(WINDOW, TRUTH)
    told = judge.requests[0].items[-1].content.partition("THE STATEMENTS\n")[2]
    numbers = [int(match) for match in re.findall(r"^(\d+)\. ", told, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    schema = judge.requests[0].schema
    assert schema is not None
    assert schema["properties"]["grades"]["minItems"] == len(numbers)

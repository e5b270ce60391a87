"""Conversations: whole, unguessable, longer than the budget, the same for a seed."""

import json
from collections import Counter

import pytest

from fakes.evaluating import BUDGET, COUNTER, conversation
from pinfold.evaluation.author import MOST_COMPACTIONS, ComposedConversation, compose
from pinfold.evaluation.dialogues import Dialogue, dialogues, parsed
from pinfold.evaluation.probes import WindowText
from pinfold.evaluation.scores import PROBES
from pinfold.rollout.events import ItemAdded, MemoryApplied
from pinfold.rollout.items import Item
from pinfold.tools.registry import tools
from pinfold.wire.atoms import atoms

EVERY = [dialogue.name for dialogue in dialogues()]
AREAS = {"coding", "debugging", "review", "operations", "writing"}


def items(told: ComposedConversation) -> list[Item]:
    return [
        event.item
        for stretch in told.stretches
        for event in stretch.events
        if isinstance(event, ItemAdded)
    ]


def test_there_are_twelve_dialogues_or_more_in_four_languages_and_five_areas() -> None:
    assert len(dialogues()) >= 12
    assert {dialogue.language for dialogue in dialogues()} == {"en", "de", "es", "fr"}
    assert {dialogue.area for dialogue in dialogues()} == AREAS


@pytest.mark.parametrize("dialogue", dialogues(), ids=lambda value: value.name)
def test_a_dialogue_has_what_an_evaluation_asks_for(dialogue: Dialogue) -> None:
    assert len(dialogue.stretches) == MOST_COMPACTIONS
    told = conversation(dialogue.name, compactions=MOST_COMPACTIONS)
    truths = [stretch.truth for stretch in told.stretches]
    truth = truths[0]
    assert len(truth.constraints) >= 2
    assert len(truth.decisions) >= 2
    assert len([fact for fact in truth.facts if fact.older]) >= 2
    assert truth.questions
    assert len(truth.files) >= 2
    assert len({truth.next for truth in truths[:3]}) == 3
    assert truth.questions[0] not in truths[1].questions
    every = items(told)
    assert not [item for item in every if "<" in item.content or "===" in item.content]
    lines = [line for stretch in dialogue.stretches for exchange in stretch for line in exchange]
    recorded = [event for stretch in told.stretches for event in stretch.events]
    accepted = sum(isinstance(event, MemoryApplied) for event in recorded)
    assert accepted == sum(line.by == "record" for line in lines)


@pytest.mark.parametrize("name", EVERY)
def test_each_value_is_found_in_the_whole_window_and_no_other_statement_has_it(name: str) -> None:
    told = conversation(name, compactions=MOST_COMPACTIONS)
    truth = told.stretches[-1].truth
    assert WindowText(items(told)).scores(truth) == dict.fromkeys(PROBES, 1.0)
    said = {
        *truth.statements(),
        *truth.past,
        *(statement for fact in truth.facts for statement in fact.older),
    }
    values = [value for statement in said for value in statement.values]
    assert set(Counter(values).values()) == {1}
    assert all(statement.values and statement.words for statement in said)
    assert all(fact.labelled.words for fact in truth.facts)
    assert all(len(value) >= 5 for value in values)


DIALOGUE = """\
language: en
area: coding

user: hi, <goal: sort {name}>. <rule a: stay off {host}>
agent: Right. <next: Then {name}.>
tool cat a => size:
  <fact size: size = {port}>

user: <rule a: {host} is fine, stay off {host}>
write src/{name}.py
===
user: so <question q: who is {person}?>
record fact size => <fact size: {port}>
===
user: <answered q: me>"""


def test_a_dialogue_says_what_holds_and_what_has_replaced_it() -> None:
    source = parsed("it", DIALOGUE)
    told = compose(source, 1, compactions=3, budget=BUDGET, count=COUNTER.count)
    one, two, three = (stretch.truth for stretch in told.stretches)
    (rule,) = one.constraints
    assert len(rule.values) == 2
    changed = {fact.label: fact for fact in one.facts}
    assert changed["a"].latest == rule
    assert [statement.text.split()[:2] for statement in changed["a"].older] == [["stay", "off"]]
    assert not changed["size"].older
    assert [len(fact.older) for fact in two.facts if fact.label == "size"] == [1]
    assert [len(truth.questions) for truth in (one, two, three)] == [0, 1, 0]
    (path,) = three.files
    written = [item.content for item in items(told) if item.name == "write_file"]
    assert [json.loads(text)["path"] for text in written] == [path]
    shown = f"size:\n{changed['size'].latest.text}\n"
    assert any(shown in item.content for item in items(told) if item.kind == "tool_result")


def test_a_line_of_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="somebody"):
        parsed("it", "language: en\narea: coding\n\nsomebody: hello")


@pytest.mark.parametrize("name", EVERY)
def test_the_users_text_is_three_times_the_budget(name: str) -> None:
    first = conversation(name, compactions=MOST_COMPACTIONS).stretches[0]
    written = [
        event.item.content
        for event in first.events
        if isinstance(event, ItemAdded) and event.item.kind == "user"
    ]
    assert sum(map(COUNTER.count, written)) == first.user_tokens >= 3 * BUDGET


def test_the_items_are_those_of_a_session() -> None:
    every = items(conversation(compactions=MOST_COMPACTIONS))
    numbers = [item.n for item in every]
    assert numbers == sorted(set(numbers))
    list(atoms(every))  # raises where a call has no result
    calls = [item for item in every if item.kind == "tool_call"]
    known = {tool.schema.name for tool in tools()} | {"memory_apply"}
    assert {call.name for call in calls} <= known
    assert all(isinstance(json.loads(call.content), dict) for call in calls)


def test_a_seed_always_gives_the_same_conversation() -> None:
    (dialogue, *_) = dialogues()
    made = [
        compose(dialogue, 7, compactions=2, budget=BUDGET, count=COUNTER.count) for _ in range(2)
    ]
    assert made[0] == made[1]


def test_no_value_stands_in_two_conversations_or_under_two_seeds() -> None:
    drawn = [
        {value for statement in told.stretches[-1].truth.statements() for value in statement.values}
        for name in EVERY
        for told in (conversation(name), conversation(name, seed=8))
    ]
    assert sum(map(len, drawn)) == len(set[str]().union(*drawn))

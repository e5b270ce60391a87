"""Conversations: whole, unguessable, longer than the budget, the same for a seed."""

import json
from collections import Counter

import pytest

from fakes.evaluating import BUDGET, COUNTER, conversation
from pinfold.evaluation.conversation import MOST_COMPACTIONS, Conversation
from pinfold.evaluation.probes import Reading
from pinfold.evaluation.scores import PROBES
from pinfold.evaluation.templates import Template, templates
from pinfold.rollout.events import ItemAdded, MemoryApplied, MemoryRefused
from pinfold.rollout.items import Item
from pinfold.tools.registry import tools
from pinfold.wire.atoms import atoms

EVERY = [each.name for each in templates()]


def items(told: Conversation) -> list[Item]:
    return [
        event.item
        for stretch in told.stretches
        for event in stretch.events
        if isinstance(event, ItemAdded)
    ]


def test_there_are_twelve_templates_or_more_in_three_languages_and_five_areas() -> None:
    assert len(templates()) >= 12
    assert {each.language for each in templates()} == {"en", "de", "es"}
    areas = {"coding", "debugging", "review", "operations", "writing"}
    assert {each.area for each in templates()} == areas


@pytest.mark.parametrize("template", templates(), ids=EVERY)
def test_a_template_has_what_five_compactions_need(template: Template) -> None:
    assert len(template.constraints) == 4
    assert len(template.next) == MOST_COMPACTIONS
    assert [fact.by for fact in template.facts] == ["user", "tool", "recorded"]
    assert {2} == {len(getattr(template.decisions, by)) for by in ("user", "agent", "recorded")}


@pytest.mark.parametrize("name", EVERY)
def test_each_value_is_found_in_the_whole_window_and_no_other_statement_has_it(name: str) -> None:
    told = conversation(name, compactions=MOST_COMPACTIONS)
    truth = told.stretches[-1].truth
    assert Reading(items(told)).scores(truth) == dict.fromkeys(PROBES, 1.0)
    values = [value for each in truth.statements() for value in each.values]
    values += [value for fact in truth.facts for each in fact.older for value in each.values]
    assert set(Counter(values).values()) == {1}
    assert all(statement.values for statement in truth.statements())
    assert all(len(value) >= 5 for value in values)


@pytest.mark.parametrize("name", EVERY)
def test_the_users_text_is_three_times_the_budget(name: str) -> None:
    (first, _) = conversation(name).stretches
    written = [
        event.item.content
        for event in first.events
        if isinstance(event, ItemAdded) and event.item.kind == "user"
    ]
    assert sum(map(COUNTER.count, written)) == first.user_tokens >= 3 * BUDGET


@pytest.mark.parametrize("name", EVERY)
def test_what_the_agent_records_is_accepted(name: str) -> None:
    told = conversation(name, compactions=MOST_COMPACTIONS)
    events = [event for stretch in told.stretches for event in stretch.events]
    assert not [event for event in events if isinstance(event, MemoryRefused)]
    assert len([event for event in events if isinstance(event, MemoryApplied)]) >= 5


def test_the_items_are_those_of_a_session() -> None:
    every = items(conversation(compactions=MOST_COMPACTIONS))
    numbers = [item.n for item in every]
    assert numbers == sorted(set(numbers))
    list(atoms(every))  # raises where a call has no result
    calls = [item for item in every if item.kind == "tool_call"]
    known = {tool.schema.name for tool in tools()} | {"memory_apply"}
    assert {call.name for call in calls} <= known
    assert all(isinstance(json.loads(call.content), dict) for call in calls)


def test_a_seed_always_gives_the_same_conversation_and_another_gives_other_values() -> None:
    assert conversation(seed=7) == conversation(seed=7)
    one, other = conversation(seed=7), conversation(seed=8)
    values = [
        {value for each in told.stretches[-1].truth.statements() for value in each.values}
        for told in (one, other)
    ]
    assert not values[0] & values[1]


def test_facts_change_before_the_first_compaction() -> None:
    first = conversation().stretches[0].truth
    assert [len(fact.older) for fact in first.facts] == [1, 1, 1]

"""Strategies that lose one thing fail the probe for that thing, and no other."""

import asyncio
from collections.abc import Callable
from random import Random
from statistics import fmean

import pytest

from fakes.evaluating import SETTING, Written, conversation, lines
from pinfold.evaluation.probes import WindowText
from pinfold.evaluation.scores import PROBES, Probe
from pinfold.evaluation.trials import run
from pinfold.evaluation.truth import ChangingFact, TrueStatement, Truth
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item


def all_but(lost: Callable[[Truth], list[str]]) -> Callable[[Truth], str]:
    """A text that has everything but what is lost."""
    return lambda truth: "\n".join(line for line in lines(truth) if line not in lost(truth))


def with_stale_values(truth: Truth) -> str:
    """Everything, and behind it the values that no longer hold."""
    return "\n".join(
        [*lines(truth), *(statement.text for fact in truth.facts for statement in fact.older[-1:])]
    )


def corrected(truth: Truth) -> str:
    """The values that no longer hold, each followed by the one that does."""
    return "\n".join(
        [*(statement.text for fact in truth.facts for statement in fact.older[-1:]), *lines(truth)]
    )


def first_values(truth: Truth) -> str:
    """The values that held at first, as if nothing had changed."""
    first = {fact.latest.text: (*fact.older, fact.latest)[0].text for fact in truth.facts}
    return "\n".join(first.get(line, line) for line in lines(truth))


def loose_values(truth: Truth) -> str:
    """The values of constraints without what they are about, and all else."""
    loose = [" ".join(constraint.values) for constraint in truth.constraints]
    return "\n".join([*loose, all_but(texts("constraints"))(truth)])


def texts(part: str) -> Callable[[Truth], list[str]]:
    return lambda truth: [statement.text for statement in getattr(truth, part)]


NAMES = ["invoice-rounding", "nachtmigration", "boletin", "node-drain", "relecture-contrat"]
LOSSY: list[tuple[Callable[[Truth], str], dict[Probe, float]]] = [
    (all_but(lambda truth: []), {}),
    (all_but(lambda truth: [truth.goal.text]), {"goal": 0.0}),
    (all_but(texts("constraints")), {"constraints": 0.0}),
    (all_but(texts("decisions")), {"decisions": 0.0}),
    (all_but(lambda truth: [fact.latest.text for fact in truth.facts]), {"facts": 0.0}),
    (all_but(lambda truth: [truth.next.text, *texts("questions")(truth)]), {"next": 0.0}),
    (all_but(lambda truth: list(truth.files)), {"files": 0.0}),
    (with_stale_values, {"facts": 0.0, "stale": 0.0}),
    (first_values, {"facts": 0.0, "stale": 0.0}),
    (corrected, {}),
    (loose_values, {"constraints": 0.5}),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_lossy_strategy_fails_the_probes_that_it_should(name: str) -> None:
    told = conversation(name)
    truths = [stretch.truth for stretch in told.stretches]
    trials = asyncio.run(run(told, [Written(truths, text) for text, _ in LOSSY], SETTING))
    for trial, (text, low) in zip(trials, LOSSY, strict=True):
        assert not trial.not_run, text
        before, *after = trial.points
        assert before.read == dict.fromkeys(PROBES, 1.0), text
        for point in after:
            assert point.read == {**dict.fromkeys(PROBES, 1.0), **low}, text


def shuffled(said: list[str]) -> str:
    """Every line that was ever said, in no order."""
    every = [line for text in said for line in text.splitlines()]
    return "\n".join(Random(3).sample(every, len(every)))


def stirred(said: list[str]) -> str:
    """Every word, in no order and on one line."""
    every = [word for text in said for word in text.split()]
    return " ".join(Random(3).sample(every, len(every)))


@pytest.mark.parametrize("name", NAMES)
def test_neither_a_heap_of_all_that_was_said_nor_a_list_of_values_is_a_memory(name: str) -> None:
    told = conversation(name)
    events = [event for stretch in told.stretches for event in stretch.events]
    said = [event.item.content for event in events if isinstance(event, ItemAdded)]
    truth = told.stretches[-1].truth
    for heap, most in ((shuffled, 0.95), (stirred, 0.7)):
        found = WindowText([Item(n=1, kind="summary", content=heap(said))]).scores(truth)
        assert found["facts"] < 0.8
        assert fmean(found.values()) < most
    older = [
        value for fact in truth.facts for statement in fact.older for value in statement.values
    ]
    now = [value for statement in truth.statements() for value in statement.values]
    found = WindowText([Item(n=1, kind="summary", content="\n".join([*older, *now]))]).scores(truth)
    assert found["facts"] == found["decisions"] == 0.5
    assert found["goal"] <= 0.5


def test_a_next_step_behind_which_an_older_one_stands_counts_half() -> None:
    truth = Truth(GOAL, PORT, past=(OLD,))

    def next_in(text: str) -> float:
        return WindowText([Item(n=1, kind="user", content=text)]).scores(truth)["next"]

    assert next_in(f"{OLD.text}\n{PORT.text}") == 1.0
    assert next_in(f"{PORT.text}\n{OLD.text}") == 0.5
    assert next_in(OLD.text) == 0.0


def test_a_value_counts_by_its_label_too() -> None:
    fact = ChangingFact(
        "batch size", TrueStatement("make that 51234 then, please", ("51234",)), (OLD,)
    )
    truth = Truth(GOAL, GOAL, facts=(fact,))

    def known(text: str) -> float:
        return WindowText([Item(n=1, kind="user", content=text)]).scores(truth)["facts"]

    assert known("batch size: 51234") == 1.0
    assert known("51234") == 0.5


PORT = TrueStatement("The queue listens on port 40123.", ("40123",))
OLD = TrueStatement("The queue listens on port 30999.", ("30999",))
GOAL = TrueStatement("Build the queue velkoro.", ("velkoro",))


def held(text: str) -> float:
    return WindowText([Item(n=1, kind="user", content=text)]).held(PORT)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Note: THE  QUEUE listens\ton port 40123.", 1.0),
        ("queue, listens: 40123", 1.0),
        ("40123", 0.5),
        ("the queue listens on port\n40123", 0.5),
        ("the queue listens on port " + "and so on " * 30 + "40123", 0.5),
        ("The queue listens on port 140123.", 0.0),
        ("The queue listens on port 40123-7.", 0.0),
        ("", 0.0),
    ],
)
def test_a_value_is_held_as_a_whole_on_a_line_that_says_what_it_is(text: str, share: float) -> None:
    assert held(text) == share


@pytest.mark.parametrize(
    ("text", "stale"),
    [
        ("port 30999, then port 40123", False),
        ("port 40123, formerly 30999", True),
        ("port 30999", True),
        ("", False),
    ],
)
def test_an_old_value_is_corrected_by_the_newer_one_behind_it(text: str, stale: bool) -> None:
    reading = WindowText([Item(n=1, kind="user", content=text)])
    assert reading.is_stale(ChangingFact("port", PORT, (OLD,))) is stale


def test_a_path_is_known_by_its_name_and_its_folders() -> None:
    truth = Truth(PORT, PORT, files=("src/queue/velkoro.py",))

    def knows(text: str) -> float:
        return WindowText([Item(n=1, kind="checkpoint", content=text)]).scores(truth)["files"]

    assert knows("wrote src/queue/velkoro.py") == 1.0
    assert knows("src/\n  queue/ created velkoro.py") == 1.0
    assert knows("created velkoro.py") == 0.0
    assert knows("src/queue/other.py") == 0.0


def test_the_arguments_of_a_call_are_read_as_what_they_say() -> None:
    call = Item(n=1, kind="tool_call", name="shell", content='{"command":"h\\u00f6re \\"40123\\""}')
    assert WindowText([call]).held(PORT) == 0.5
    assert WindowText([Item(n=1, kind="tool_call", name="x", content="40123 {")]).held(PORT) == 0.5

"""Strategies that lose one thing fail the probe for that thing, and no other."""

import asyncio
from collections.abc import Callable

import pytest

from fakes.evaluating import SETTING, Written, conversation, lines
from pinfold.evaluation.probes import Reading
from pinfold.evaluation.scores import PROBES, Probe
from pinfold.evaluation.trials import run
from pinfold.evaluation.truth import Fact, Statement, Truth
from pinfold.rollout.items import Item


def all_but(lost: Callable[[Truth], list[str]]) -> Callable[[Truth], str]:
    """A text that has everything but what is lost."""
    return lambda truth: "\n".join(line for line in lines(truth) if line not in lost(truth))


def with_stale_values(truth: Truth) -> str:
    """Everything, and behind it the values that no longer hold."""
    return "\n".join([*lines(truth), *(fact.older[-1].text for fact in truth.facts)])


def corrected(truth: Truth) -> str:
    """The values that no longer hold, each followed by the one that does."""
    return "\n".join([*(fact.older[-1].text for fact in truth.facts), *lines(truth)])


def loose_values(truth: Truth) -> str:
    """The values of constraints without what they are about, and all else."""
    loose = [" ".join(each.values) for each in truth.constraints]
    return "\n".join([*loose, all_but(texts("constraints"))(truth)])


def texts(part: str) -> Callable[[Truth], list[str]]:
    return lambda truth: [each.text for each in getattr(truth, part)]


LOSSY: list[tuple[Callable[[Truth], str], dict[Probe, float]]] = [
    (all_but(lambda truth: []), {}),
    (all_but(lambda truth: [truth.goal.text]), {"goal": 0.0}),
    (all_but(texts("constraints")), {"constraints": 0.0}),
    (all_but(texts("decisions")), {"decisions": 0.0}),
    (all_but(lambda truth: [fact.latest.text for fact in truth.facts]), {"facts": 0.0}),
    (all_but(lambda truth: [truth.next.text, *texts("questions")(truth)]), {"next": 0.0}),
    (all_but(lambda truth: list(truth.files)), {"files": 0.0}),
    (with_stale_values, {"stale": 0.0}),
    (corrected, {}),
    (loose_values, {"constraints": 0.5}),
]


@pytest.mark.parametrize(("text", "low"), LOSSY)
@pytest.mark.parametrize("name", ["retry-queue", "rechnungslauf", "fuga-de-pagos"])
def test_a_lossy_strategy_fails_the_probes_that_it_should(
    name: str, text: Callable[[Truth], str], low: dict[Probe, float]
) -> None:
    told = conversation(name)
    strategy = Written([stretch.truth for stretch in told.stretches], text)
    (trial,) = asyncio.run(run(told, [strategy], SETTING))
    assert not trial.not_run
    before, *after = trial.points
    assert before.read == dict.fromkeys(PROBES, 1.0)
    for point in after:
        assert point.read == {**dict.fromkeys(PROBES, 1.0), **low}


PORT = Statement("The queue listens on port 40123.", ("40123",))
OLD = Statement("The queue listens on port 30999.", ("30999",))


def held(text: str) -> float:
    return Reading([Item(n=1, kind="user", content=text)]).held(PORT)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Note: THE  QUEUE listens\ton port 40123.", 1.0),
        ("queue, listens: 40123", 1.0),
        ("40123", 0.5),
        ("the queue listens on port\n40123", 0.5),
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
    reading = Reading([Item(n=1, kind="user", content=text)])
    assert reading.is_stale(Fact("port", PORT, (OLD,))) is stale


def test_a_path_is_known_by_its_name_and_its_folders() -> None:
    truth = Truth(PORT, PORT, files=("src/queue/velkoro.py",))

    def knows(text: str) -> float:
        return Reading([Item(n=1, kind="checkpoint", content=text)]).scores(truth)["files"]

    assert knows("wrote src/queue/velkoro.py") == 1.0
    assert knows("src/\n  queue/ created velkoro.py") == 1.0
    assert knows("created velkoro.py") == 0.0
    assert knows("src/queue/other.py") == 0.0


def test_the_arguments_of_a_call_are_read_as_what_they_say() -> None:
    call = Item(n=1, kind="tool_call", name="shell", content='{"command":"h\\u00f6re \\"40123\\""}')
    assert Reading([call]).held(PORT) == 0.5
    assert Reading([Item(n=1, kind="tool_call", name="x", content="40123 {")]).held(PORT) == 0.5

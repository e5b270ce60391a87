"""Values under a key, as calls gave them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.checkpoint.readings import MAX_SHOWN, Readings
from pinfold.rollout.items import Item


def lines(*outputs: str, call: str = "cat app.toml", spoken: str = "") -> tuple[str, ...]:
    """What stands after one call gave these outputs, one after the other."""
    readings = Readings()
    for n, output in enumerate(outputs):
        give(readings, 2 * n + 1, call, output)
    if spoken:
        readings.add(Item(n=99, kind="user", content=spoken))
    return readings.lines()


def give(readings: Readings, n: int, call: str, output: str) -> None:
    readings.add(Item(n=n, kind="tool_call", content=call, call_id=f"c{n}", name="shell"))
    readings.add(Item(n=n + 1, kind="tool_result", content=output, call_id=f"c{n}"))


@pytest.mark.parametrize("shown", ["lease_ms = {}", "lease_ms: {}", "lease_ms={}", "lease_ms {}"])
def test_a_value_that_changed_is_told_as_it_stands_now(shown: str) -> None:
    before, now = shown.format(100), shown.format(250)
    assert lines(before, now) == ("- lease_ms = 250 (#4)",)
    assert lines(before, before) == ()


def test_a_value_that_someone_speaks_of_is_told() -> None:
    assert lines("lease_ms = 100", spoken="Is lease_ms right?") == ("- lease_ms = 100 (#2)",)
    assert lines("mode = 100", spoken="In which mode?") == ()


@pytest.mark.parametrize(
    "output",
    [
        "name_of = {0}1\nname_of = {0}2",
        "x_{0} = load(source_{0}, 3)",
        "Duration: {0}",
        "elapsed_s = {0}",
        "size = {0}ms",
        'api_key = "{0}9"',
    ],
)
def test_code_times_and_secrets_are_no_settings(output: str) -> None:
    assert lines(*(output.format(n) for n in range(1, 3))) == ()


def test_what_is_new_each_time_is_no_setting() -> None:
    assert lines(*(f"chunk_id = {n}" for n in range(9))) == ()


def test_other_calls_and_what_was_rewound_tell_nothing() -> None:
    readings = Readings()
    give(readings, 1, "cat a.toml", "lease_ms = 1")
    give(readings, 3, "cat b.toml", "lease_ms = 2")
    assert readings.lines() == ()
    give(readings, 5, "cat b.toml", "lease_ms = 3")
    readings.retract(5)
    assert readings.lines() == ()


@given(st.lists(st.text(max_size=300), max_size=6))
def test_whatever_calls_give_there_are_few_lines(outputs: list[str]) -> None:
    told = lines(*outputs)
    assert len(told) <= MAX_SHOWN
    assert all(len(each.splitlines()) == 1 for each in told)

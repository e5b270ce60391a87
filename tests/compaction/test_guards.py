"""When a window is compacted by itself."""

import pytest

from pinfold.compaction.guards import Auto, Cause, NextStep, PastCompactions, next_step

FULL = 90_000
USABLE = 100_000


def step(
    cause: Cause = "threshold",
    used: int = FULL,
    auto: Auto = "auto",
    past: PastCompactions | None = None,
    *,
    paused: bool = False,
) -> NextStep:
    return next_step(cause, used, USABLE, 0.85, auto, past or PastCompactions(), paused=paused)


def test_the_threshold_decides() -> None:
    assert step(used=84_999) == "leave"
    assert step(used=85_000) == "compact"
    assert step(auto="ask") == "ask"


@pytest.mark.parametrize("cause", ["threshold", "overflow", "model"])
def test_off_is_off(cause: Cause) -> None:
    assert step(cause, auto="off") == "leave"


def test_it_does_not_run_again_until_the_window_has_grown() -> None:
    past = PastCompactions().succeeded(82_000)
    assert step(past=past) == "leave"
    assert step(used=92_000, past=past) == "compact"
    assert step("overflow", past=past) == "compact"
    assert step("model", past=past) == "ask"


def test_a_window_that_does_not_fit_is_tried_again_whether_it_has_grown_or_not() -> None:
    past = PastCompactions().in_vain(101_000)
    assert step(used=99_000, past=past) == "leave"
    assert step(used=101_000, past=past) == "compact"


def test_three_failures_in_a_row_stop_it_until_something_changes() -> None:
    past = PastCompactions().failed().failed()
    assert step(past=past) == "compact"
    past = past.failed()
    assert step(past=past) == step("overflow", past=past) == "leave"
    for later in (past.acted(), past.prompted(), past.changed()):
        assert step(past=later) == "compact"
    assert step(past=past.undid().changed()) == "leave"
    assert step(past=past.succeeded(10)) == "compact"


def test_what_would_gain_too_little_is_tried_again_once_the_window_has_grown() -> None:
    past = PastCompactions()
    for used in (85_000, 95_000):
        assert step(used=used, past=past) == "compact"
        past = past.in_vain(used)
        assert step(used=used + 4_000, past=past) == "leave"
    assert step("overflow", past=past) == "compact"


def test_a_gain_that_was_too_small_counts_until_the_window_is_another() -> None:
    past = PastCompactions().succeeded(60_000).in_vain(85_000)
    assert step(past=past) == "leave"
    assert step(past=past.below()) == "compact", "masked meanwhile, and grown again"
    assert step(past=past.prompted()) == "compact"
    assert step(past=PastCompactions().succeeded(86_000).below()) == "leave", (
        "it was compacted just now"
    )


def test_the_window_of_a_paused_turn_is_left_alone_but_for_an_overflow() -> None:
    assert step(paused=True) == step("model", paused=True) == "leave"
    assert step("overflow", paused=True) == "compact"


def test_after_an_undo_it_pauses_until_the_next_prompt() -> None:
    past = PastCompactions().undid()
    assert step(past=past) == "leave"
    assert step(past=past.prompted()) == "compact"


def test_a_smaller_model_counts_where_its_window_is_nearly_full() -> None:
    assert step("model", used=50_000) == "leave"

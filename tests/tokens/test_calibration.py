"""What reports teach about estimates."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.tokens.calibration import Calibration

HIDDEN = 5_000


def learned(*reports: tuple[int, int]) -> Calibration:
    calibration = Calibration()
    for estimate, tokens in reports:
        calibration.learn("p", "m", estimate, tokens)
    return calibration


def test_without_a_report_an_estimate_stays_what_it_is() -> None:
    calibration = learned((100, 200))
    assert calibration.known("p", "m")
    for other in (("p", "another"), ("another", "m")):
        assert not calibration.known(*other)
        assert calibration.correct(*other, 1_000) == 1_000


def test_one_report_tells_what_the_server_adds() -> None:
    calibration = learned((10_000, 10_000 + HIDDEN))
    assert calibration.correct("p", "m", 10_000) == 10_000 + HIDDEN
    assert calibration.correct("p", "m", 12_000) == 12_000 + HIDDEN


def test_one_report_of_a_large_window_says_little_of_a_small_one() -> None:
    """A tokenizer that counts 7% more is not 12,000 tokens of instructions."""
    calibration = learned((167_000, 179_000))
    assert calibration.correct("p", "m", 167_000) == 179_000
    assert calibration.correct("p", "m", 150) == pytest.approx(161, abs=1)


def test_growth_tells_how_another_tokenizer_counts() -> None:
    reports = [(n, round(1.2 * n) + HIDDEN) for n in range(5_000, 105_000, 5_000)]
    assert learned(*reports).correct("p", "m", 140_000) == pytest.approx(168_000 + HIDDEN, rel=0.01)


def test_after_a_compaction_the_report_of_a_like_window_serves() -> None:
    """What the server added to the large window, searches say, is gone with it."""
    calibration = learned((10_000, 15_000), (100_000, 105_000), (150_000, 220_000))
    assert calibration.correct("p", "m", 160_000) == pytest.approx(230_000, rel=0.03)
    assert calibration.correct("p", "m", 12_000) == pytest.approx(17_000, rel=0.03)


@pytest.mark.parametrize(
    ("estimate", "tokens"),
    [(0, 500), (500, 0), (-5, 10), (10, -5), (200_000, 4_096), (50_000, 500_000)],
    ids=["nothing", "no usage", "negative", "negative usage", "cut off", "a sum of many"],
)
def test_a_report_that_cannot_be_true_teaches_nothing(estimate: int, tokens: int) -> None:
    assert not learned((estimate, tokens)).known("p", "m")
    both = learned((10_000, 12_000), (estimate, tokens))
    assert both == learned((10_000, 12_000))


@given(
    st.lists(st.tuples(st.integers(-10, 10**7), st.integers(-10, 10**7)), max_size=80),
    st.integers(0, 10**7),
)
def test_any_reports_leave_a_calibration_that_is_small_and_can_be_kept(
    reports: list[tuple[int, int]], estimate: int
) -> None:
    calibration = learned(*reports)
    assert calibration.correct("p", "m", estimate) >= 0
    assert all(len(model.reports) <= 64 for model in calibration.models.values())
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(calibration), type=Calibration)
    assert kept == calibration
    assert kept.correct("p", "m", estimate) == calibration.correct("p", "m", estimate)


@given(st.lists(st.integers(1_000, 150_000), min_size=1, max_size=9), st.integers(0, 20_000))
def test_a_larger_window_is_never_said_to_take_less(sizes: list[int], hidden: int) -> None:
    calibration = learned(*((size, size + hidden) for size in sizes))
    said = [calibration.correct("p", "m", estimate) for estimate in range(0, 200_000, 997)]
    assert said == sorted(said)


@given(st.floats(0.7, 1.5), st.integers(0, 20_000), st.integers(1, 40))
def test_the_next_request_of_a_growing_window_is_near(
    rate: float, hidden: int, requests: int
) -> None:
    sizes = [2_000 * n for n in range(1, requests + 2)]
    calibration = learned(*((size, round(rate * size) + hidden) for size in sizes[:-1]))
    after = rate * sizes[-1] + hidden
    assert calibration.correct("p", "m", sizes[-1]) == pytest.approx(after, rel=0.35)
    if requests > 20:
        assert calibration.correct("p", "m", sizes[-1]) == pytest.approx(after, rel=0.02)

"""What the user may set the threshold to."""

import pytest

from pinfold.agent.options import Limits


@pytest.mark.parametrize(
    ("to", "share"),
    [("0.7", 0.7), ("70", 0.7), ("70%", 0.7), ("1", 1.0), ("100", 1.0), ("1%", 0.01)],
)
def test_a_share_may_be_in_percent(to: str, share: float) -> None:
    limits = Limits("auto", 0.85)
    limits.set(to)
    assert limits.threshold == pytest.approx(share)


@pytest.mark.parametrize("to", ["0", "-1", "101", "250%", "nan", "inf", "soon", "%"])
def test_what_is_no_share_is_refused(to: str) -> None:
    limits = Limits("auto", 0.85)
    with pytest.raises(ValueError, match="share"):
        limits.set(to)
    assert limits.threshold == 0.85

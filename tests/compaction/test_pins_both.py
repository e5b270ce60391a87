"""An item that is pinned by its number, and whose file is pinned too."""

import pytest

from fakes.compactions import planned, session
from pinfold.rollout.events import Pin, PinsChanged

CALL, RESULT = 3, 4
PATH = "src/part_1.py"


@pytest.mark.parametrize("strategy", ["prune", "checkpoint", "layered"])
@pytest.mark.parametrize("pins", [(PATH, CALL), (CALL, PATH), (PATH, RESULT)])
def test_an_older_read_of_the_file_stays_in_full(strategy: str, pins: tuple[Pin, ...]) -> None:
    live = session(9)  # the first and the eighth turn read that file
    live.add(PinsChanged(add=pins))
    stays = dict(planned(live.view(), strategy).window)
    assert stays[CALL] == stays[RESULT] == "full"

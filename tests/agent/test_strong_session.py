"""A scripted strong model works through 40 requests in a window of 32k."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.strong_session import REPLIES, REQUESTS, Played, play
from pinfold.rollout.events import WindowReplaced


@pytest.fixture
async def played(tmp_path: Path) -> AsyncIterator[Played]:
    result = await play(tmp_path)
    yield result
    await result.at.session.close()


async def test_it_comes_to_its_end_with_masks_and_a_compaction(played: Played) -> None:
    assert len(played.requests) == len(REPLIES) == REQUESTS
    last = played.at.session.items[-1]
    assert (last.kind, last.content) == ("assistant", REPLIES[-1].text)
    assert list(played.masks())
    assert any(isinstance(each, WindowReplaced) for each in played.at.events())

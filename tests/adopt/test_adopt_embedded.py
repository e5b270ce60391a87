"""Recordings of other tools go on with the embedded model, whose window is far smaller."""

from pathlib import Path

import pytest

from fakes.agent import User
from fakes.provider import FakeClock
from fakes.recorded import recorded
from pinfold.adopt.detect import read
from pinfold.agent.builder import build
from pinfold.agent.options import Options
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.providers.embedded import Embedded, available
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter

pytestmark = pytest.mark.real_model


@pytest.mark.parametrize("file", [*recorded("codex")[:1], *recorded("claude")[:1]])
async def test_a_recording_is_compacted_and_goes_on_for_a_turn(file: Path, tmp_path: Path) -> None:
    adoption, model = read(file), available()
    assert model
    journal = SessionStore(tmp_path).adopt(
        adoption.events, tmp_path, "test", lambda: adoption.started_at
    )
    counter = Counter(model.encoding)
    counter.load()

    async def connect(_: str) -> Connection:
        raise AssertionError

    session = await build(
        journal,
        tmp_path,
        Connection(Embedded(), model, "chat", "embedded"),
        (),
        User(),
        FakeClock(),
        Options(),
        counter=counter,
        user_folder=tmp_path,
        connect=connect,
        learned_windows=LearnedWindows(tmp_path),
    )
    try:
        before = len(session.items)
        assert (await session.send("Say hello.")).state == "done"
        await session.idle()
        assert session.items[-1].kind == "assistant"
        assert session.window.boundaries[-1].reason in ("threshold", "overflow")
        assert session.reading().used < model.context_window
        assert len(session.items) > before
    finally:
        await session.close()

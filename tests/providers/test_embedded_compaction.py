"""Every strategy on the embedded model, in its own window, under its grammar: a whole session."""

import argparse
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.compactions import working
from pinfold.agent.clock import CLOCK
from pinfold.agent.compaction.draft import CompactionDraft
from pinfold.agent.requests.connection import Connection
from pinfold.agent.session import Session
from pinfold.headless import no_terminal
from pinfold.host.app_context import app_context
from pinfold.host.sessions import new_journal, open_session
from pinfold.providers.embedded import Embedded, available
from pinfold.rollout.events import CompactionFinished, Data, RequestFinished, TurnStarted
from pinfold.rollout.journal import Journal

pytestmark = pytest.mark.real_model

WRITTEN = ["snapshot", "handoff"]
"""By the model itself; it has no endpoint for `remote`, and its window is too small to prepare."""
ATTEMPTS = 3


@pytest.fixture
async def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Session]:
    """Some turns of work, on the embedded model."""
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    ctx = app_context(argparse.Namespace(cd=tmp_path, config=["compact.auto=off"]))
    model = available()
    assert model

    def journal() -> Journal:
        new = new_journal(ctx)
        new.append(*past())
        return new

    connection = Connection(Embedded(), model, "chat", "")
    opened = await open_session(ctx, no_terminal, journal, connection=connection)
    yield opened
    await opened.close()


def past() -> list[Data]:
    return [TurnStarted(turn=1), *working(5, output=24)]


def events(session: Session) -> list[Data]:
    with Journal.open(session.folder, CLOCK.now, read_only=True) as journal:
        return [event.data for event in journal.read()]


def asked(session: Session) -> list[RequestFinished]:
    told = (event for event in events(session) if isinstance(event, RequestFinished))
    return [event for event in told if event.purpose == "compaction"]


async def compacted(session: Session, strategy: str) -> CompactionDraft:
    draft = await session.compact(strategy)
    assert draft is not None
    ended = [event for event in events(session) if isinstance(event, CompactionFinished)]
    assert (ended[-1].status, ended[-1].compaction.strategy) == ("applied", draft.plan.strategy)
    assert draft.plan.sizes.after < draft.plan.sizes.before
    return draft


async def goes_on(session: Session) -> None:
    assert (await session.send("Say hello.")).state == "done"
    assert session.items[-1].kind == "assistant"


@pytest.mark.parametrize("strategy", [*WRITTEN, "remote", "layered"])
async def test_each_strategy_runs_to_its_end_and_the_session_goes_on(
    session: Session, strategy: str
) -> None:
    draft = await compacted(session, strategy)
    told = asked(session)
    if strategy in WRITTEN:
        assert {event.status for event in told} == {"ok"}
        assert all(event.usage and event.usage.output for event in told)
        assert told
    if draft.plan.strategy != strategy and strategy != "layered":
        assert any(note.startswith(f"{strategy} ") for note in draft.plan.notes)
    await goes_on(session)


async def test_a_snapshot_is_accepted_and_not_empty(session: Session) -> None:
    for _ in range(ATTEMPTS):
        draft = await compacted(session, "snapshot")
        if draft.plan.strategy == "snapshot":
            break
        assert await session.window.undo() == "the compaction"
    (summary,) = [item for item in draft.plan.inserted if item.kind == "summary"]
    assert summary.detail["entries"]
    assert not any(entry["unsupported"] for entry in summary.detail["entries"])
    await goes_on(session)

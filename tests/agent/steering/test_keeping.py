"""What a session tells of earlier windows, and what it brings back of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import RequestFinished, WindowReplaced
from pinfold.rollout.store import SessionStore
from pinfold.window.refused import Refused

OPTIONS = Options(approvals="full", auto="off", compact=PlanOptions(min_headroom_tokens=500))
BARE = PlanOptions(
    text="Parts were read.", user_message_tokens=0, max_tail_messages=1, min_headroom_tokens=500
)


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Stage]:
    """Four turns, and one that names a port; all but the last are gone."""
    script = []
    for turn in range(4):
        script.append(calls((f"c{turn}", "shell", '{"command": "seq 1 300"}')))
        script.append(says(f"Read part {turn}, {turn}7,123 rows."))
    staged = await stage(tmp_path, [*script, says("Fine.")], options=OPTIONS)
    await staged.say(*(f"read part {turn}" for turn in range(4)))
    await staged.say("go on")
    compaction = staged.session.compaction
    await compaction.apply(await compaction.draft("checkpoint", BARE))
    yield staged
    await staged.session.close()


async def test_what_went_can_be_kept_after_all_and_that_undone(at: Stage) -> None:
    session = at.session
    n = next(item.n for item in session.items if session.window.form(item.n) is None)
    before = session.window.items
    said = await session.window.keep(1, n)
    assert said.startswith(f"Restored #{n}")
    assert said.endswith(" tokens more.")
    assert session.window.form(n) == "full"
    assert [event.reason for event in at.events() if isinstance(event, WindowReplaced)][
        -1
    ] == "kept"
    assert (await session.window.undo()).startswith(f"the restore of #{n}")
    assert session.window.items == before


async def test_nothing_is_kept_while_a_turn_runs(at: Stage) -> None:
    at.provider.script.append(says("Yes."))
    at.session.send("more")
    with pytest.raises(Refused, match="A turn is running"):
        await at.session.window.keep(1, 3)
    await at.session.idle()


async def test_the_outlook_is_what_a_restore_comes_to(at: Stage) -> None:
    session = at.session
    outlook = await session.window.outlook(0)
    assert outlook.before == session.reading().used
    await session.window.restore(0)
    assert outlook.after == session.reading().used
    assert outlook.items == len(session.window.overview().rows)
    with pytest.raises(Refused, match="There is no earlier window 2"):
        await session.window.outlook(2)


async def test_what_is_remembered_follows_the_session(at: Stage) -> None:
    compaction = at.session.compaction
    kept = await compaction.remembered(1_000)
    assert kept.checkpoint.task is not None
    assert kept.checkpoint.task.text == "read part 3"
    assert any("seq 1 300" in line.text for line in kept.digest.lines)
    assert kept.anchors.of_artifact("cmd:seq 1 300") is not None
    at.provider.script.append(says("Yes."))
    await at.say("Never touch main.py.")
    kept = await compaction.remembered(1_000)
    assert "Never touch main.py." in [suggestion.text for suggestion in kept.suggested]
    assert kept.stated == ()


async def test_a_fork_goes_on_in_an_earlier_window(at: Stage, tmp_path: Path) -> None:
    store, session = SessionStore(tmp_path / "home"), at.session
    stood = [entry.n for entry in session.window.standing(0)]
    forked = await stage(
        tmp_path,
        [says("On.")],
        options=OPTIONS,
        journal=lambda: store.fork_window(session.folder, 0, at.clock.now),
    )
    try:
        assert [row.n for row in forked.session.window.overview().rows] == stood
        assert len(forked.session.window.generations) == 1
        await forked.say("and now?")
        assert forked.session.items[-1].content == "On."
        sent = forked.events_of(RequestFinished)
        assert sent[-1].window_id == f"{forked.session.id}:0"
        assert session.window.generations[-1].generation == 1
    finally:
        await forked.session.close()

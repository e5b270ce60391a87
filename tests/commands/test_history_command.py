"""`/history` and `/checkpoint`: what was, and what is kept in mind."""

import re
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.commands import FakeContext, run
from fakes.provider import Step, calls, says
from pinfold.agent.options import Options
from pinfold.agent.updates import Told
from pinfold.commands.arguments import CommandError
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.events import WindowReplaced
from pinfold.window.refused import Refused

OPTIONS = Options(
    approvals="full",
    auto="off",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
)


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Stage]:
    """A session of four turns, compacted once: 16 items."""
    script: list[list[Step]] = []
    for turn in range(4):
        script.append(calls((f"c{turn}", "shell", '{"command": "seq 1 300"}')))
        script.append(says(f"Read part {turn}."))
    staged = await stage(tmp_path, script, options=OPTIONS)
    for turn in range(4):
        staged.session.send(f"read part {turn}")
        await staged.session.idle()
    compaction = staged.session.compaction
    await compaction.apply(await compaction.draft("checkpoint"))
    yield staged
    await staged.session.close()


@pytest.fixture
def context(at: Stage) -> FakeContext:
    return FakeContext(at.session)  # type: ignore[arg-type]


async def test_history_and_checkpoint_open_panels(context: FakeContext) -> None:
    await run(context, "/history")
    await run(context, "/checkpoint")
    assert context.opened == ["history", "checkpoint"]
    assert not context.told


async def test_lost_is_about_the_newest_compaction(at: Stage, context: FakeContext) -> None:
    await at.session.window.keep(1, 3)
    await run(context, "/lost")
    assert (context.opened, context.search) == (["lost"], "1")


async def test_nothing_is_lost_before_the_first_compaction() -> None:
    with pytest.raises(CommandError, match="Nothing has been compacted yet"):
        await run(FakeContext(), "/lost")


async def test_the_completion_says_where_to_see_what_was_lost(at: Stage) -> None:
    told = next(update for update in at.heard if isinstance(update, Told))
    assert told.text.startswith("Compaction complete: ")
    assert told.hint == "/lost shows what was lost"


async def test_a_fork_goes_on_in_an_earlier_window(context: FakeContext) -> None:
    await run(context, "/history fork 0")
    assert context.host.opened == ["fork window 0"]
    assert context.told == [f"Forked from session {context.session.id} at its window 0."]


async def test_a_window_is_shown_item_by_item(context: FakeContext) -> None:
    await run(context, "/history show 0")
    lines = context.told[0].splitlines()
    assert len(lines) == 16
    assert lines[0].split() == ["#1", "user", "read", "part", "0"]
    assert lines[1].split()[:3] == ["#2", "call", "shell"]


@pytest.mark.slow
async def test_a_long_window_ends_with_its_newest_items(context: FakeContext) -> None:
    session = context.session
    for turn in range(110):
        session.run_command(f"true {turn}")
        await session.idle()
    await run(context, "/history show 1")
    head, *lines = context.told[0].splitlines()
    assert head.startswith("The last 100 of 1")
    assert head.endswith(f"pinfold history {session.id} --show 1")
    assert len(lines) == 100
    assert "true 109" in lines[-1]


async def test_two_windows_are_compared(context: FakeContext) -> None:
    await run(context, "/history diff 0 1")
    head, *lines = context.told[0].splitlines()
    signs = [line[0] for line in lines]
    assert head == f"{signs.count('-')} removed; 1 added; {signs.count('~')} changed"
    assert (signs.count("+"), signs[-1]) == (1, "+")
    assert "checkpoint" in lines[-1]
    await run(context, "/history diff 1 1")
    assert context.told[1] == "0 removed; 0 added; 0 changed"


async def test_restore_is_an_event_that_can_be_undone(at: Stage, context: FakeContext) -> None:
    before = [row.n for row in at.session.window.overview().rows]
    await run(context, "/history restore 0")
    (said,) = context.told
    assert said.startswith("Window 0 is restored, with everything since: 16 items. ")
    assert re.search(
        r" of 8.2k tokens, [\d.]+k? more than fit: compact it before you continue\. ", said
    )
    assert said.endswith("/undo undoes it.")
    assert context.levels == ["warning"]
    reasons = [event.reason for event in at.events() if isinstance(event, WindowReplaced)]
    assert reasons == ["manual", "restore"]
    assert [row.n for row in at.session.window.overview().rows] == list(range(1, 17))
    await run(context, "/undo")
    assert context.told[1].startswith("Undone: the restore.")
    assert [row.n for row in at.session.window.overview().rows] == before


@pytest.mark.parametrize(
    "written",
    [
        "{:%Y%m%dT%H%M%S}",
        "{:%Y%m%dT%H%M}",
        "{:%Y-%m-%dT%H:%M:%SZ}",
        "{:%Y-%m-%d %H:%M}",
        "{:%Y%m%d}",
        "{:%Y%m%dT%H%M%S}-0",
        "{:%Y%m%dT%H%M%S}-0.jsonl",
    ],
)
async def test_a_window_is_named_by_the_time_at_which_it_was_archived(
    at: Stage, context: FakeContext, written: str
) -> None:
    when = at.session.window.boundaries[0].at.astimezone(UTC)
    await run(context, f"/history restore {written.format(when)}")
    assert context.told[0].startswith("Window 0 is restored, with everything since")
    await run(context, f"/history show {written.format(when)}")
    assert context.told[1].splitlines()[0].split() == ["#1", "user", "read", "part", "0"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/history back", "show G, diff G H, restore G, or fork G"),
        ("/history show", "show G, diff G H, restore G, or fork G"),
        ("/history show two", "“two” is not a window: name one by its number or by when it was"),
        ("/history restore 1999-01-01", "No window was compacted at 1999-01-01"),
        ("/history diff 0", "show G, diff G H, restore G, or fork G"),
        ("/history show 7", "There is no window 7: there are 0 to 1"),
        ("/history diff 0 7", "There is no window 7"),
        ("/history restore 1", "There is no earlier window 1"),
        ("/checkpoint all", "takes show or nothing"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_changes_nothing(
    at: Stage, context: FakeContext, text: str, why: str
) -> None:
    before = len(at.events())
    with pytest.raises((CommandError, Refused), match=why):
        await run(context, text)
    assert len(at.events()) == before
    assert not context.told


async def test_nothing_is_restored_while_a_turn_runs(at: Stage, context: FakeContext) -> None:
    at.provider.script.append(says("Yes."))
    at.session.send("more")
    with pytest.raises(Refused, match="A turn is running"):
        await run(context, "/history restore 0")
    await at.session.idle()


async def test_nothing_is_forked_while_a_turn_runs(at: Stage, context: FakeContext) -> None:
    at.provider.script.append(says("Yes."))
    at.session.send("more")
    await at.until(lambda: at.session.phase != "idle")
    with pytest.raises(CommandError, match="A turn is running"):
        await run(context, "/history fork 0")
    await at.session.idle()


async def test_checkpoint_tells_what_is_kept_in_mind_now(at: Stage, context: FakeContext) -> None:
    await run(context, "/checkpoint show")
    assert context.told[0].startswith("[SESSION_CHECKPOINT v1]\n[TASK]\n- read part 3\n")
    assert "USER: " in context.told[0]
    at.provider.script.append(says("Fine."))
    at.session.send("now ship all of it")
    await at.session.idle()
    await run(context, "/checkpoint show")
    assert "[TASK]\n- now ship all of it\n" in context.told[1]

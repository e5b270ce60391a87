"""`/compact` makes room, or shows how, and tells what no longer stands in the window."""

from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.commands import FakeContext, run
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.commands.action import CommandError
from pinfold.compaction.view import PlanOptions

OFF = Options(
    approvals="full",
    auto="off",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
)


async def worked(root: Path) -> tuple[Stage, FakeContext]:
    script = []
    for turn in range(4):
        script.append(calls((f"c{turn}", "shell", f'{{"command": "seq {turn} 300"}}')))
        script.append(says(f"Part {turn} is read; the limit is {turn}{turn}7 MB."))
    at = await stage(root, script, options=OFF)
    for turn in range(4):
        at.session.send(f"read part {turn}")
        await at.session.idle()
    return at, FakeContext(session=at.session)  # type: ignore[arg-type]


async def test_it_compacts_and_tells_what_it_came_to(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    before = at.session.reading().used
    await run(context, "/compact --strategy checkpoint")
    assert at.session.reading().used < before
    assert any(text.startswith("Compaction complete: ") for text in at.told())
    assert context.told[-1].endswith("/undo brings the old window back.")


async def test_a_dry_run_opens_the_preview_and_changes_nothing(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    used = at.session.reading().used
    await run(context, "/compact --dry-run --strategy prune --max-tail 3")
    assert context.previewed is not None
    strategy, options = context.previewed
    assert (strategy, options.max_tail_messages) == ("prune", 3)
    assert at.session.reading().used == used


async def test_strategies_stand_side_by_side(tmp_path: Path) -> None:
    _, context = await worked(tmp_path)
    await run(context, "/compact --compare")
    assert [line.split()[0] for line in context.told[-1].splitlines()[1:]] == [
        "prune",
        "checkpoint",
        "layered",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/compact --strategy magic", "There is no strategy magic"),
        ("/compact --max-tail 0", "must be at least 1"),
        ("/compact --max-tail many", "/compact: argument --max-tail"),
        ("/compact --target 2", "--target is a share"),
        ("/compact --nonsense", "unrecognized arguments: --nonsense"),
        ("/compact 'open", "No closing quotation"),
        ("/compact --auto-compact-threshold 7", "no share of the window"),
    ],
)
async def test_wrong_use_is_told_plainly(tmp_path: Path, text: str, why: str) -> None:
    at, context = await worked(tmp_path)
    used = at.session.reading().used
    with pytest.raises(CommandError, match=why):
        await run(context, text)
    assert at.session.reading().used == used

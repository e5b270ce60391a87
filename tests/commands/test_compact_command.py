"""`/compact` makes room, or shows how, and tells what no longer is in the window."""

import asyncio
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.commands import FakeContext, run
from fakes.provider import calls, says
from fakes.summaries import answer, entry
from pinfold.agent.options import Options
from pinfold.agent.updates import CompactionProgress
from pinfold.commands.arguments import CommandError
from pinfold.commands.compact import SHARED
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.view import PlanOptions
from pinfold.rollout.journal import Journal
from pinfold.tokens.prices import Price
from pinfold.window.refused import Refused

OFF = Options(
    approvals="full",
    auto="off",
    compact=PlanOptions(max_tail_messages=4, min_headroom_tokens=500),
)


async def worked(root: Path, options: Options = OFF) -> tuple[Stage, FakeContext]:
    script = []
    for turn in range(4):
        script.append(calls((f"c{turn}", "shell", f'{{"command": "seq {turn} 300"}}')))
        script.append(says(f"Part {turn} is read; the limit is {turn}{turn}7 MB."))
    at = await stage(root, script, options=options)
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


GOOD = answer(
    task=entry((1, "read part 0"), text="Read the parts."),
    decisions=[entry((1, "read part 0"), text="Part 0 comes first.")],
)


def writing(at: Stage) -> None:
    """Models answer `snapshot` and `handoff`, in this order."""
    at.provider.summaries = [says(GOOD)]
    at.provider.script = [says("Part 1 is read.")]


def rows(text: str) -> dict[str, str]:
    """The lines of a comparison, by strategy."""
    return {line.split()[0]: line for line in text.splitlines()[2:]}


async def test_all_strategies_stand_side_by_side(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    writing(at)
    used = at.session.reading().used
    await run(context, "/compact --compare")
    announced, table = context.told
    assert announced.startswith("Asking scripted-1 for snapshot, handoff, remote: each reads")
    assert announced.endswith("tokens. Esc stops.")
    found = rows(table)
    assert list(found)[: len(at.session.compaction.strategies)] == list(
        at.session.compaction.strategies
    )
    assert max(map(len, table.splitlines())) <= 66
    head = table.splitlines()[1]
    assert head.split() == [
        *("strategy", "tokens", "less", "words", "replies", "failures", "commands"),
        "cost",
    ]
    assert found["checkpoint"].endswith("–")
    assert found["snapshot"].endswith(" tok")
    assert "scripted has no compaction endpoint" in found["remote"]
    assert at.session.reading().used == used
    assert at.session.window.generations[-1].generation == 0


async def test_what_is_lost_is_counted(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    writing(at)
    await run(context, "/compact --compare --max-tail 1")
    draft = await at.session.compaction.draft(
        "checkpoint", replace(at.session.compaction.options, max_tail_messages=1)
    )
    loss = await at.session.compaction.loss(draft)
    found = rows(context.told[-1])
    for column, kind in ((3, "your words"), (4, "reply"), (5, "failure"), (6, "command")):
        count = sum(lost.kind == kind for lost in loss.named)
        assert found["checkpoint"].split()[column] == str(count)


async def test_what_it_costs_is_told_before_and_after(tmp_path: Path) -> None:
    prices = {"scripted-1": Price(input=1_000.0, output=1_000.0)}
    at, context = await worked(tmp_path, replace(OFF, prices=prices))
    writing(at)
    await run(context, "/compact --compare")
    assert ", about $" in context.told[0]
    assert "in all, output not included. Esc stops." in context.told[0]
    assert "$" in rows(context.told[1])["handoff"]
    assert "tok" not in context.told[1].split("cost")[1]


async def test_a_comparison_is_stopped_and_tells_what_it_has(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    gate = asyncio.Event()
    at.provider.summaries = [[gate]]
    comparing = asyncio.create_task(run(context, "/compact --compare"))
    await at.until(lambda: at.session.phase == "compacting" and not at.provider.summaries)
    at.session.interrupt()
    await comparing
    found = rows(context.told[-1])
    assert found["checkpoint"].endswith("–")
    assert found["snapshot"].endswith("stopped before its plan was ready")
    assert at.session.phase == "idle"


async def test_the_model_s_steps_are_told_while_it_compacts(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    writing(at)
    await run(context, "/compact --strategy snapshot")
    steps = [update for update in at.heard if isinstance(update, CompactionProgress)]
    names = [update.step.partition(",")[0] for update in steps]
    assert list(dict.fromkeys(names)) == ["picking", "summarising", "swapping in", "checking"]
    assert {update.strategy for update in steps} == {"snapshot"}
    assert [update.done for update in steps] == sorted(update.done for update in steps)


@pytest.mark.parametrize(("other", "name"), [("hierarchical", "snapshot"), ("core", "handoff")])
async def test_other_names_of_strategies_are_taken(tmp_path: Path, other: str, name: str) -> None:
    _, context = await worked(tmp_path)
    await run(context, f"/compact --dry-run --strategy {other}")
    assert context.previewed is not None
    assert context.previewed[0] == name


@pytest.mark.parametrize(
    ("strategy", "focus"),
    [
        ("", "the limits"),
        ("checkpoint", '--focus "the limits"'),
        ("remote", '--focus="the limits"'),
    ],
)
async def test_a_focus_that_no_model_reads_is_told(
    tmp_path: Path, strategy: str, focus: str
) -> None:
    at, context = await worked(tmp_path)
    wanted = f"--strategy {strategy} " if strategy else ""
    await run(context, f"/compact {wanted}{focus}")
    name = strategy or "layered"
    said = f"The focus has no effect on {name}: only snapshot and handoff use it."
    assert at.told().count(said) == 1
    assert context.told[-1].endswith("/undo brings the old window back.")


async def test_a_focus_that_a_model_reads_is_not(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    writing(at)
    await run(context, "/compact don't drop --strategy handoff the loader's limits")
    read = at.provider.requests[-1].items[-1].content
    assert read.endswith("\ndon't drop the loader's limits")
    assert not any("focus has no" in text for text in at.told())


@pytest.mark.parametrize("strategy", ["", "checkpoint", "prune", "handoff"])
async def test_roles_that_a_strategy_does_not_use_are_told(tmp_path: Path, strategy: str) -> None:
    at, context = await worked(tmp_path)
    writing(at)
    wanted = f"--strategy {strategy} " if strategy else ""
    await run(context, f"/compact {wanted}--keep-roles tool,diff,decision")
    name = strategy or "layered"
    assert f"keep_roles has no effect on {name}: only snapshot uses it." in at.told()


async def test_roles_that_snapshot_falls_short_of_are_told(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    at.provider.script = [says("No JSON.")] * 4
    await run(context, "/compact --strategy snapshot --keep-roles diff")
    assert "keep_roles has no effect on checkpoint: only snapshot uses it." in at.told()


@pytest.mark.parametrize("typed", ["--strategy snapshot --keep-roles diff", "--strategy prune"])
async def test_nothing_is_told_of_roles_that_are_used_or_were_not_asked_for(
    tmp_path: Path, typed: str
) -> None:
    at, context = await worked(tmp_path)
    writing(at)
    await run(context, f"/compact {typed}")
    assert not any("keep_roles" in text for text in at.told())


async def test_remembered_options_hold_until_the_session_ends(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    await run(context, '/compact --strategy checkpoint --max-tail 1 --focus "limits" --remember')
    assert context.told[0] == (
        "Remembered until the session ends: --strategy checkpoint --focus limits --max-tail 1"
    )
    compaction = at.session.compaction
    assert (compaction.strategy, compaction.options.max_tail_messages) == ("checkpoint", 1)
    assert compaction.options.focus == "limits"
    await run(context, "/compact --dry-run --max-tail 2")
    assert context.previewed is not None
    assert context.previewed[0] == "checkpoint"
    assert context.previewed[1].focus == "limits"
    assert compaction.options.max_tail_messages == 1
    folder = at.session.folder
    await at.session.close()
    opened = partial(Journal.open, folder, at.clock.now)
    again = await stage(tmp_path, [], options=OFF, journal=opened)
    assert again.session.compaction.options == OFF.compact
    await again.session.close()


async def test_options_are_remembered_though_the_compaction_fails(tmp_path: Path) -> None:
    context = FakeContext((await stage(tmp_path, [])).session)  # type: ignore[arg-type]
    with pytest.raises(Refused):
        await run(context, "/compact --max-tail 1 --remember")
    assert context.session.compaction.options.max_tail_messages == 1


@pytest.mark.parametrize(
    ("typed", "globs"),
    [
        ('--keep-files "a.py, src/**"', ("a.py", "src/**")),
        ("--keep-files a.py --keep-files b.py,c.py", ("a.py", "b.py", "c.py")),
        ("--keep-files src/*.{py,toml},README.md", ("src/*.{py,toml}", "README.md")),
        ("--keep-files {a,{b,c}}.py,d}", ("{a,{b,c}}.py", "d}")),
        ("--keep-files ''", ()),
    ],
)
async def test_files_to_keep_are_a_list(tmp_path: Path, typed: str, globs: tuple[str, ...]) -> None:
    _, context = await worked(tmp_path)
    await run(context, f"/compact --dry-run {typed}")
    assert context.previewed is not None
    assert context.previewed[1].keep_files_glob == globs


# Preparing


async def test_preparing_is_switched_by_command_and_key() -> None:
    context = FakeContext()
    preparing = context.session.preparing
    await run(context, "/prepare on")
    await run(context, "/prepare")
    assert not preparing.wanted
    assert "Background summaries are off." in context.told[-1]
    await run(context, "/prepare on")
    assert preparing.wanted
    assert context.told[-1].endswith("the digest costs none and usually keeps more.")
    await run(context, "/prepare on")
    assert preparing.wanted
    with pytest.raises(CommandError, match="takes on, off or nothing"):
        await run(context, "/prepare now")


async def test_preparing_says_where_it_is_of_no_use() -> None:
    context = FakeContext()
    context.session.set_threshold("off")
    await run(context, "/prepare on")
    assert "/threshold auto turns it on." in context.told[-1]
    context.session.set_threshold("auto")
    context.session.compaction.strategy = "checkpoint"
    await run(context, "/prepare on")
    assert "this session compacts with checkpoint." in context.told[-1]
    context.session.preparing.state = "ready"
    await run(context, "/prepare off")
    assert "The one that is ready will still be used." in context.told[-1]


# Options


async def test_options_reach_the_plan(tmp_path: Path) -> None:
    _, context = await worked(tmp_path)
    await run(
        context,
        '/compact --dry-run --focus "the parser" --keep-roles diff,decision --keep-files "a/**" '
        "--keep-files b.md --min-headroom 0 --target 0.5",
    )
    assert context.previewed is not None
    _, options = context.previewed
    assert options.focus == "the parser"
    assert options.keep_roles == ("diff", "decision")
    assert options.keep_files_glob == ("a/**", "b.md")
    assert (options.min_headroom_tokens, options.target_pct) == (0, 0.5)


async def test_the_threshold_is_the_session_s_from_then_on(tmp_path: Path) -> None:
    at, context = await worked(tmp_path)
    await run(context, "/compact --dry-run --auto-compact-threshold 0.5")
    assert at.session.threshold == 0.5


async def test_every_item_is_told_of_where_asked(tmp_path: Path) -> None:
    _, context = await worked(tmp_path)
    await run(context, "/compact --strategy checkpoint --verbose")
    assert "Strategy checkpoint:" in context.told[0]
    assert "archived: older than the tail" in context.told[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/compact --strategy magic", "There is no strategy magic"),
        ("/compact --max-tail 0", "must be a whole number, at least 1"),
        ("/compact --max-tail many", "/compact: --max-tail: must be a whole number"),
        ("/compact --min-headroom -1", "--min-headroom: .* at least 0"),
        ("/compact --keep-roles tools", "tools is not one of decision, diff, tool, none"),
        ("/compact --auto-compact-threshold 0.5 --target 2", "--target: must be a share"),
        ("/compact --target 2", "--target: must be a share"),
        ("/compact --nonsense", "unrecognized arguments: --nonsense"),
        ("/compact 'open", "No closing quotation"),
        ("/compact --auto-compact-threshold 700", "not a share of the window"),
    ],
)
async def test_wrong_use_is_told_plainly(tmp_path: Path, text: str, why: str) -> None:
    at, context = await worked(tmp_path)
    used, threshold = at.session.reading().used, at.session.threshold
    with pytest.raises(CommandError, match=why):
        await run(context, text)
    assert (at.session.reading().used, at.session.threshold) == (used, threshold)


def test_the_help_names_every_strategy() -> None:
    [argument] = [argument for argument in SHARED if argument.names == "--strategy"]
    assert set(house()) <= set(re.findall(r"\w+", argument.help))

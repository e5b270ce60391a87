"""`/race`. Pictures: `snapshots/test_race_panel/`."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.agents import troupe
from fakes.live_session import live_session
from fakes.provider import calls, says
from fakes.screen import make_app, until
from pinfold.agent.children.definition import Agents, no_agents
from pinfold.agent.children.race_folders import FileChange
from pinfold.agent.children.races import RacerOutcome, Ran
from pinfold.agent.options import Options
from pinfold.host.race_folders import CopiedFolders
from pinfold.rollout.events import ChildFinished, ChildStarted
from pinfold.rollout.items import Item
from pinfold.rollout.race_events import RaceStarted
from pinfold.rollout.values import Usage
from pinfold.tokens.prices import Price
from pinfold.tui.approval.diff import DiffView
from pinfold.tui.panels.ask import AskPanel
from pinfold.tui.panels.race import RacePanel
from pinfold.tui.panels.race_list import RaceList

WRITE = ("w", "write_file", '{"path": "b.txt", "content": "from the agent\\n"}')


async def test_one_is_compared_tested_and_kept(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    on = await troupe(
        tmp_path,
        [says("ok")],
        {key: [calls(WRITE), says("Done.")] for key in ("/a1-", "/a2-")},
        options=Options(approvals="full"),
        races=CopiedFolders(work),
        shown=True,
    )
    app = make_app(on.session)  # type: ignore[arg-type]
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app._begun.is_set)
        await on.session.races.start("improve it", 2)
        app.open("race")
        await until(pilot, lambda: isinstance(app.screen, RacePanel))
        panel = app.screen
        shown = panel.query_one(RaceList)

        def lines() -> list[list[str]]:
            return [shown.render_line(y).text.split() for y in range(len(shown.lines))]

        await until(pilot, lambda: [line[4:5] for line in lines()[1:]] == [["+1"], ["+1"]])
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.query(DiffView))
        await pilot.press("escape", "t", *"false", "enter")
        await until(pilot, lambda: on.session.races.tested(1) is not None)
        await until(pilot, lambda: all("✗" in line for line in lines()[1:]))
        # A file of the user's own in the way is told, and nothing changes.
        (work / "b.txt").write_text("mine\n")
        await pilot.press("K")
        await until(pilot, lambda: isinstance(app.screen, AskPanel))
        await pilot.press("y")
        said = panel.query_one(".said", Static)
        await until(pilot, lambda: "✗ Nothing was brought over: b.txt" in str(said.render()))
        (work / "b.txt").unlink()
        await pilot.press("K")
        await until(pilot, lambda: isinstance(app.screen, AskPanel))
        assert not (work / "b.txt").exists()
        await pilot.press("y")
        await until(pilot, lambda: on.session.races.kept(1) == 1)
        assert (work / "b.txt").read_text() == "from the agent\n"
        # The folders stay unless the user says yes.
        await until(pilot, lambda: isinstance(app.screen, AskPanel))
        await pilot.press("escape")
        await until(pilot, lambda: lines()[1][2] == "kept")
        assert len(list((tmp_path / "work.worktrees").iterdir())) == 2
    await on.session.close()


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids="{0[0]}x{0[1]}".format)
def test_panel(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    """You should see a race of three by its prompt, with the heads of columns: a1 is done and its
    test passed, a2 failed its test, a3 has died and changed nothing. The foot says what a1 ran."""
    options = Options(prices={"gpt-5.2": Price(1.25, 10.0)}, approvals="full")
    session = live_session(options=options, agents=Agents(no_agents))
    session.append(Item(n=1, kind="user", content="Hello.", turn=1))
    prompt = "make the parser keep comments, with tests"
    session.append(RaceStarted(race=1, prompt=prompt, apart="worktree", tree="0" * 40))
    ends = [("done", ""), ("done", ""), ("failed", "The model is down.")]
    for number, (state, reason) in enumerate(ends, 1):
        session.append(
            ChildStarted(
                child=number,
                session=f"s{number}",
                agent="",
                description=prompt,
                call_id="",
                background=True,
                worktree=f"a{number}-0a1b2c",
                race=1,
                model="gpt-5.2-mini" if number == 2 else "",
            )
        )
        session.append(
            ChildFinished(
                child=number,
                state=state,  # type: ignore[arg-type]
                reason=reason,
                items=9,
                models={"openai/gpt-5.2": Usage(input=20_000 * number, output=900)},
                seconds=71.0 * number,
                worktree=f"/work/project.worktrees/a{number}-0a1b2c",
            )
        )
    test = "pytest -q tests/parser"
    outcomes = {
        1: RacerOutcome(
            (FileChange("src/parser.py", 48, 12), FileChange("tests/test_parser.py", 90, 0)),
            Ran(test, 0),
        ),
        2: RacerOutcome((FileChange("src/parser.py", 1_204, 377),), Ran(test, 1)),
        3: RacerOutcome(),
    }

    async def read(race: int) -> dict[int, RacerOutcome]:
        return outcomes

    session.races.outcomes = read  # type: ignore[method-assign]

    async def before(pilot: Pilot[str]) -> None:
        await until(pilot, lambda: session.approver is not None)
        pilot.app.open("race")  # type: ignore[attr-defined]
        await until(pilot, lambda: pilot.app.screen.query(RaceList))
        panel = pilot.app.screen
        assert isinstance(panel, RacePanel)
        await until(pilot, lambda: len(panel._outcomes) == 3)
        await pilot.pause()

    assert snap_compare(make_app(session), terminal_size=size, run_before=before)

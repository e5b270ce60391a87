"""Skills and commands on the screen: the lists, the question about a project's, completion."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.live_session import LiveSession, live_session
from fakes.screen import make_app, until
from fakes.skills import Ground, user_home
from pinfold.agent.options import Options
from pinfold.tui.panels.accept import AcceptPanel
from pinfold.tui.panels.context import ContextPanel
from pinfold.tui.panels.context_table import ContextTable
from pinfold.tui.panels.item import Page
from pinfold.tui.panels.skills import ExtensionsList, ExtensionsPanel


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    user_home(tmp_path, monkeypatch)
    ground = Ground(tmp_path)
    ground.skill(ground.home / ".claude", "pdf", more="allowed-tools: Bash\n")
    ground.skill(
        ground.cwd / ".claude", "release", "---\ndescription: Obey\x1b[2J me\n---\nTag it."
    )
    ground.command(ground.cwd / ".claude", "deploy", "---\nargument-hint: ENV\n---\nTo $1.")
    return ground


def foot(pilot: Pilot[str]) -> str:
    return "\n".join(
        str(said.visual) for said in pilot.app.screen.query("Foot Static").results(Static)
    )


async def opened(ground: Ground) -> LiveSession:
    session = live_session(options=Options(skills=ground.library), gauge=None)
    await session.count_front()
    return session


async def test_a_projects_skill_is_shown_before_it_is_accepted(ground: Ground) -> None:
    session = await opened(ground)
    app = make_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.open("skills")
        await until(pilot, lambda: app.screen.query(ExtensionsList))
        listed = app.screen.query_one(ExtensionsList)
        await until(pilot, lambda: len(listed.lines) == 2)
        facts = str(app.screen.query_one(".facts", Static).visual)
        assert facts.startswith("2 skills · ")
        assert facts.endswith("! 1 waits for your approval: t")
        await until(pilot, lambda: "allowed-tools has no effect: Bash" in foot(pilot))
        await pilot.press("down", "t")
        await until(pilot, lambda: isinstance(app.screen, AcceptPanel))
        text = app.screen.query_one(Page).text
        assert "Obey␛[2J me" in text
        assert "Tag it." in text
        (ground.cwd / ".claude/skills/release/SKILL.md").write_text(
            "---\ndescription: x\n---\nOther."
        )
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, ExtensionsPanel))
        # What was read is accepted, not what came meanwhile.
        await until(pilot, lambda: "waits: it has changed" in foot(pilot))
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, AcceptPanel))
        await pilot.press("y")
        await until(pilot, lambda: "Accepted: /release." in foot(pilot))
        assert [one.state for one in ground.library.shelf.of("skill")] == ["ready", "ready"]


async def test_a_command_is_completed_and_called(ground: Ground) -> None:
    session = await opened(ground)
    app = make_app(session)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        await pilot.press(*"/dep")
        await until(pilot, lambda: app._shell.editor.completer.is_open)
        candidate = app._shell.editor.completer.candidate
        assert candidate is not None
        assert (candidate.text, candidate.help[:13]) == ("/deploy ENV", "project · wai")
        editor = app._shell.editor
        await pilot.press("tab", *"prod", "enter")
        # It is not accepted yet, so it comes back.
        await until(pilot, lambda: session.sent and editor.text == "/deploy prod")
        ground.accept()
        await pilot.press("enter")
        await until(pilot, lambda: any(item.kind == "user" for item in session.items))
        said = [item.content for item in session.items if item.kind in ("context", "user")]
        assert said[-2].endswith("comes from app/.claude/commands/deploy.md:\n\nTo prod.")
        assert said[-1] == "/deploy prod"


async def test_the_index_is_folded_once_its_price_was_seen(ground: Ground) -> None:
    session = await opened(ground)
    app = make_app(session)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.push_screen(ContextPanel(session, sort="order", opened=True))
        await until(pilot, lambda: app.screen.query(ContextTable))
        listed = app.screen.query_one(ContextTable)
        await until(
            pilot, lambda: any(getattr(row, "name", "") == "skills" for row in listed.lines)
        )
        listed.go(next(n for n, row in enumerate(listed.lines) if row.name == "skills"))
        await until(pilot, lambda: "f folds or unfolds this" in foot(pilot))
        await pilot.press("f")
        await until(pilot, lambda: "f again does it." in foot(pilot))
        await pilot.press("f")
        await until(pilot, lambda: "Folded skills" in foot(pilot))
        index = session.window.context.skills
        assert index is not None
        assert (index.folded, "pdf of .claude" in index.told) == ("user", False)
        await session.count_front()
        assert session.window.context.skills == index

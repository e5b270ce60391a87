"""`/agents`. Pictures: `snapshots/test_agents_panel/`."""

import asyncio
from pathlib import Path

from fakes.agents import task, troupe
from fakes.provider import calls, says
from fakes.screen import make_app, until
from pinfold.tui.agent_view import AgentHead
from pinfold.tui.panels.agents import AgentsPanel
from pinfold.tui.panels.agents_list import AgentsList
from pinfold.tui.panels.item import Page


async def test_it_lists_opens_and_stops_agents(tmp_path: Path) -> None:
    script = [calls(task("c1", "count them"), task("c2", "linger", agent="review")), says("ok")]
    parts = {"count them": [says("Seven.")], "linger": [[asyncio.Event()]]}
    on = await troupe(tmp_path, script, parts, shown=True)
    app = make_app(on.session)  # type: ignore[arg-type]
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app._begun.is_set)
        sent = on.session.send("go")
        await until(pilot, lambda: on.session.children.end(1))
        await until(pilot, lambda: on.session.children.live(2))
        app.open("agents")
        await until(pilot, lambda: isinstance(app.screen, AgentsPanel))
        shown = app.screen.query_one(AgentsList)

        def lines() -> list[str]:
            return [shown.render_line(y).text for y in range(len(shown.lines))]

        await until(pilot, lambda: len(lines()) == 6)
        assert lines()[0].split() == ["In", "this", "session", "tokens", "cost", "time"]
        assert lines()[1].split()[:4] == ["▎●", "a1", "count", "them"]
        assert lines()[2].split()[:4] == ["◌", "a2", "review", "linger"]
        assert lines()[4].split()[0] == "explore"
        assert lines()[5].rstrip().endswith("built in")
        # A kind that can be started shows its prompt.
        await pilot.press("end", "enter")
        await until(pilot, lambda: app.screen.query(Page))
        assert "approvals: at most read-only" in app.screen.query_one(Page).text
        await pilot.press("escape")
        # One that runs is stopped, after a question.
        await pilot.press("home", "down", "s")
        await until(pilot, lambda: not isinstance(app.screen, AgentsPanel))
        await pilot.press("y")
        await until(pilot, lambda: on.session.children.end(2))
        await until(pilot, lambda: lines()[2].split()[0] == "▎■")
        assert (await sent).answer == "ok"
        await pilot.press("home", "enter")
        await until(
            pilot, lambda: "● a1  count them" in str(app.screen.query_one(AgentHead).render())
        )
        # Esc leads back to the panel, to the agent that was shown.
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, AgentsPanel))
        assert app.screen.query_one(AgentsList).current == "1"
    await on.session.close()

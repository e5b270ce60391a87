"""What one sees of agents while they work. Pictures: `snapshots/test_agent_cards/`."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.agents import task, troupe
from fakes.provider import Step, calls, says
from fakes.screen import make_app, until
from pinfold.agent.children.status import status_of
from pinfold.ports.errors import RequestRejected
from pinfold.rollout.events import ChildFinished, ChildStarted
from pinfold.tui.agent_view import AgentHead, AgentView
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.find import FindBar
from pinfold.tui.gauge import GaugeBar
from pinfold.tui.status_line import StatusLine
from pinfold.tui.transcript import agents
from pinfold.tui.transcript.view import Transcript

Snap = Callable[..., bool]
WRITES = '{"path": "notes.md", "content": "x"}'


@asynccontextmanager
async def showing(
    root: Path,
    script: list[list[Step]],
    parts: dict[str, list[list[Step]]],
    *,
    size: tuple[int, int] = (80, 24),
) -> AsyncIterator[Any]:
    """The app on a session with these agents: `.pilot`, `.session`, `.provider`."""
    on = await troupe(root, script, parts, shown=True)
    app = make_app(on.session)  # type: ignore[arg-type]
    async with app.run_test(size=size) as pilot:
        await until(pilot, app._begun.is_set)
        yield SimpleNamespace(
            pilot=pilot, app=app, session=on.session, provider=on.provider, clock=on.clock
        )
    await on.session.close()


def drawn(pilot: Pilot[str]) -> str:
    transcript = next(one for one in pilot.app.screen.query(Transcript) if one.region.height)
    return "\n".join(transcript.render_line(y).text.rstrip() for y in range(transcript.size.height))


def four(gate: asyncio.Event) -> tuple[list[list[Step]], dict[str, list[list[Step]]]]:
    """A reply that starts four agents: one reads and writes, one asks, one fails, one waits."""
    made = calls(
        task("c1", "find the callers", agent="explore"),
        task("c2", "write notes"),
        task("c3", "update the docs"),
        task("c4", "think it over", agent="review"),
        text="Four agents, side by side.",
    )
    parts: dict[str, list[list[Step]]] = {
        "find the callers": [
            calls(("r", "list_dir", '{"path": "."}')),
            [*says("Three callers in a.py,\nall")[:-2], gate, *says("x")[-2:]],
        ],
        "write notes": [calls(("w", "write_file", WRITES)), says("Written.")],
        "update the docs": [[RequestRejected("The model is down.")]],
        "think it over": [[gate, *says("Thought.")]],
    }
    return [made, says("All have ended.")], parts


async def test_four_agents_side_by_side(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script, parts = four(gate)
    async with showing(tmp_path, script, parts, size=(80, 40)) as on:
        sent = on.session.send("go")
        await until(on.pilot, lambda: on.app.query(ApprovalCard))
        await until(on.pilot, lambda: "The model is down" in drawn(on.pilot))
        await until(on.pilot, lambda: "Three callers in a.py," in drawn(on.pilot))
        said = drawn(on.pilot)
        assert "◌ a1 explore  find the callers" in said
        assert "? a2  write notes  asks you · 0s" in said
        assert "create notes.md" in said.lower()
        assert "✗ a3  update the docs  failed · 0s" in said
        assert "◌ a4 review  think it over" in said
        status = on.app.screen.query_one(StatusLine)
        assert status.agents == 3
        on.session.children.stop(4, "the user stopped it")
        await on.pilot.press("y")
        await until(on.pilot, lambda: status.agents == 1)
        await until(on.pilot, lambda: "● a2  write notes  done · 0s · " in drawn(on.pilot))
        assert "Written." in drawn(on.pilot)
        assert "changed notes.md" in drawn(on.pilot)
        await until(on.pilot, lambda: "■ a4 review  think it over  interrupted" in drawn(on.pilot))
        gate.set()
        assert (await sent).answer == "All have ended."


async def test_one_in_the_background_lives_on_in_its_card(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script = [calls(task("c1", "dig", background=True)), says("It runs.")]
    async with showing(tmp_path, script, {"dig": [[gate, *says("Found it.")]]}) as on:
        await on.session.send("go")
        await until(on.pilot, lambda: "It runs." in drawn(on.pilot))
        await until(on.pilot, lambda: "◌ a1  dig" in drawn(on.pilot))
        gate.set()
        await until(on.pilot, lambda: "● a1  dig  done" in drawn(on.pilot))
        assert "Found it." in drawn(on.pilot)
        assert "Agent a1 has ended (done): dig" in drawn(on.pilot)
        assert on.app.screen.query_one(StatusLine).agents == 0


async def test_a_resumed_session_shows_them_as_they_ended(tmp_path: Path) -> None:
    parts = {"count": [calls(("w", "write_file", WRITES)), says("One file.")]}
    script = [calls(task("c1", "count")), says("ok")]
    on = await troupe(tmp_path, script, parts, shown=True)
    on.session.set_approvals("full")
    await on.session.send("go")
    app = make_app(on.session)  # type: ignore[arg-type]
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "● a1  count  done" in drawn(pilot))
        assert "changed notes.md" in drawn(pilot)
        assert "One file." in drawn(pilot)
        assert "recall a1 lists" not in drawn(pilot)
    await on.session.close()


@pytest.mark.parametrize("text", ["one\ntwo is long enough\nth", "two is long enough\n\n"])
def test_a_line_that_has_hardly_begun_is_not_shown(text: str) -> None:
    from pinfold.agent.children.child import last_line

    assert last_line(text) == "two is long enough"


async def test_a_card_opens_the_agents_transcript_and_esc_goes_back(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script, parts = four(gate)
    async with showing(tmp_path, script, parts, size=(80, 30)) as on:
        sent = on.session.send("go\n" * 40)
        await until(on.pilot, lambda: on.app.query(ApprovalCard))
        await until(on.pilot, lambda: "Three callers in a.py," in drawn(on.pilot))
        shell, own = on.app.screen, on.app.screen.query_one(Transcript)
        own.focus()
        await on.pilot.press("up", "up", "up", "up")
        await until(on.pilot, lambda: own.current is not None and own.current.n == 3)
        await on.pilot.press("enter")
        await until(on.pilot, lambda: "◌ a1 explore  find the callers" in head(on))
        await until(on.pilot, lambda: "Three callers in a.py," in drawn(on.pilot))
        assert "read-only" in head(on)
        assert "list_dir" in drawn(on.pilot)
        # The question of another one is seen and answered here.
        assert on.app.query_one(ApprovalCard).region.height
        assert "agent a2" in str(on.app.query_one(ApprovalCard).border_subtitle)
        await on.pilot.press("f6", "y")
        await until(on.pilot, lambda: not on.app.query(ApprovalCard))
        # It is read-only, and goes on.
        await on.pilot.press("end", "up", "p")
        await until(on.pilot, lambda: "read-only" in shell.query_one(StatusLine).hint)
        gate.set()
        await until(on.pilot, lambda: "● a1 explore" in head(on))
        assert (await sent).answer == "All have ended."
        await on.pilot.press("escape")
        await until(on.pilot, lambda: own.display)
        assert on.app.focused is own
        assert own.current.n == 3


async def test_the_transcript_of_one_that_has_ended(tmp_path: Path) -> None:
    parts = {"count": [calls(("w", "write_file", WRITES)), says("One file.")]}
    long = "\n\n".join(f"line {n}" for n in range(100))
    async with showing(tmp_path, [calls(task("c1", "count")), says(long)], parts) as on:
        on.session.set_approvals("full")
        await on.session.send("go")
        own = on.app.screen.query_one(Transcript)
        own.scroll_to(y=50)
        on.app.show_agent(1)
        await until(on.pilot, lambda: "● a1  count" in head(on))
        await until(on.pilot, lambda: "write_file" in drawn(on.pilot))
        view = on.app.screen.query_one(AgentView)
        assert view.query_one(GaugeBar).reading.used > 100
        await on.pilot.press("escape")
        await until(on.pilot, lambda: not view.display)
        assert own.scroll_offset.y == 50
        assert on.app.focused is on.app.screen.query_one("Editor")


async def test_one_whose_record_is_lost_says_so(tmp_path: Path) -> None:
    async with showing(
        tmp_path, [calls(task("c1", "count")), says("ok")], {"count": [says("One.")]}
    ) as on:
        await on.session.send("go")
        shutil.rmtree(on.session.folder / "agents")
        on.app.show_agent(1)
        await until(on.pilot, lambda: "✗ " in drawn(on.pilot))
        assert on.app.focused is on.app.screen.query_one("Editor")


async def test_find_reaches_into_the_work_of_agents(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("one\na rare zebra\n")
    parts = {"count": [calls(("r", "read_file", '{"path": "a.txt"}')), says("One.")]}
    script = [calls(task("c1", "count")), says("No animals. Zebrafish!")]
    async with showing(tmp_path, script, parts) as on:
        await on.session.send("go")
        await on.pilot.press("ctrl+f", *"zebra")
        bar = on.app.screen.query_one(FindBar)

        def said() -> str:
            return "\n".join(str(part.visual) for part in bar.query(Static) if part.display)

        await until(on.pilot, lambda: "1/1 · 1 in agents" in said())
        listed = next(line for line in said().splitlines() if "a1#" in line)
        assert "a rare zebra" in listed
        n = int(listed.split("#")[1].split()[0])
        await on.pilot.press("enter")  # past the last match of the transcript
        await until(on.pilot, lambda: "› a1#" in said())
        await on.pilot.press("enter")
        await until(on.pilot, lambda: "● a1  count" in head(on))
        await until(on.pilot, lambda: "a rare zebra" in drawn(on.pilot))
        view = on.app.screen.query_one(AgentView).transcript
        assert n in {item.n for item in view._marked.entry.items}
        await on.pilot.press("escape")
        await until(on.pilot, lambda: not bar.display)
        await on.pilot.press("escape")
        await until(on.pilot, lambda: not on.app.screen.query_one(AgentView).display)


def head(on: Any) -> str:
    return "".join(str(head.render()) for head in on.app.screen.query(AgentHead) if head.display)


def test_a_card_says_where_the_worktree_of_an_agent_stays() -> None:
    started = ChildStarted(
        child=1, session="s", agent="", description="d", call_id="c", worktree="a1-s"
    )
    end = ChildFinished(child=1, state="done", files=("a.py",), worktree="/w/a1-s")
    status = status_of(started, None, end, 0.0, {})
    assert agents.text(status, None).splitlines() == [
        "",
        "changed a.py",
        "in its worktree /w/a1-s, branch pinfold/a1-s",
    ]

"""The checkpoint panel: what is kept in mind, what it is known from, and that it follows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from fakes.checkpoints import fact, file
from fakes.live_session import LiveSession, live_session
from fakes.pasts import make_remembering
from fakes.screen import make_app, until
from pinfold.agent.compaction.remembered import SessionMemory
from pinfold.checkpoint.model import Artifact
from pinfold.checkpoint.model import RecordedFact as Known
from pinfold.rollout.events import GoalSet
from pinfold.rollout.items import Item
from pinfold.rollout.journal import JournalError
from pinfold.rollout.memory import Dependency, Evidence
from pinfold.tui.panels.checkpoint import CheckpointPanel
from pinfold.tui.panels.checkpoint_list import CheckpointList
from pinfold.tui.panels.checkpoint_rows import KeptRow, rows_of, why
from pinfold.tui.panels.item import Page
from pinfold.tui.panels.table import Heading


@pytest.fixture
def session() -> LiveSession:
    return make_remembering()


@asynccontextmanager
async def opened(session: LiveSession, *keys: str) -> AsyncIterator[Pilot[str]]:
    """The panel of `session`; `keys` are pressed."""
    app = make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.open("checkpoint")
        await until(pilot, lambda: app.screen.query(CheckpointList) and rows(pilot))
        await pilot.press(*keys)
        yield pilot


def listed(pilot: Pilot[str]) -> CheckpointList:
    return pilot.app.screen.query_one(CheckpointList)


def rows(pilot: Pilot[str]) -> dict[str, KeptRow]:
    return listed(pilot).rows


def said(pilot: Pilot[str], selector: str) -> str:
    return "\n".join(
        str(result.visual) for result in pilot.app.screen.query(selector).results(Static)
    )


def under(shown: dict[str, KeptRow], heading: str) -> list[str]:
    """The lines under a heading."""
    found: list[str] = []
    at = ""
    for row in shown.values():
        if isinstance(row, Heading):
            at = row.text
        elif at == heading:
            found.append(f"{row.sign} {row.text}".strip())
    return found


async def test_all_that_is_kept_in_mind_stands_in_its_section(session: LiveSession) -> None:
    async with opened(session) as pilot:
        shown = rows(pilot)
        assert under(shown, "Task") == ["Always run the tests. Keep port 8080."]
        assert under(shown, "Plan") == ["✓ Find the bug", "○ Fix it", "○ Test it"]
        assert under(shown, "Recent artifacts")[:3] == [
            "$ python - <<'E' print(1) E",
            "src/gone.py",
            "src/auth.py",
        ]
        assert under(shown, "Decisions") == ["Read the token once", "Keep the name auth.py"]
        assert [text[:8] for text in under(shown, "Current facts")] == ["✓ Zebra:", "✓ user.w"]
        assert [text[:8] for text in under(shown, "Suspect facts")] == [
            "! auth.b",
            "! tests.",
        ]
        words = under(shown, "In your words")
        assert words[0] == "Fix the login."
        assert words[-2:] == ["? Always run the tests.", "? Keep port 8080."]
        assert "Always run the tests." in under(shown, "Digest")
        assert "1 of 3 steps done · 4 facts · ! 2 suspect" in said(pilot, ".facts")


async def test_a_suspect_fact_says_why(session: LiveSession) -> None:
    async with opened(session) as pilot:
        row = rows(pilot)["fact/tests.state"]
        assert (row.sign, row.note) == ("!", "src/auth.py changed: aaaaaaa → bbbbbbb")
        listed(pilot).move(list(rows(pilot)).index("fact/tests.state") - listed(pilot)._cursor)
        await until(pilot, lambda: row.note in said(pilot, ".about"))


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        (None, "b" * 40, "the content of a.py at that time is unknown"),
        ("a" * 40, "", "a.py is no longer watched"),
        ("a" * 40, None, "a.py is gone, or was not read again"),
        ("a" * 40, "b" * 40, "a.py changed: aaaaaaa → bbbbbbb"),
    ],
)
def test_why_a_fact_is_suspect(then: str | None, now: str | None, told: str) -> None:
    seen = Artifact(uri="a.py", kind="file", hash=now, last_observed_seq=1)
    known = Known(
        value="x",
        evidence=Evidence("user", "#1"),
        depends_on=(Dependency("a.py", then),),
        status="SUSPECT",
    )
    assert why(known, {} if now == "" else {"a.py": seen}) == told


async def test_a_line_is_copied_and_opens_its_item(session: LiveSession) -> None:
    async with opened(session, "c", "enter") as pilot:
        assert pilot.app.clipboard == "Always run the tests. Keep port 8080."
        await until(pilot, lambda: pilot.app.screen.query(Page))
        assert pilot.app.screen.query_one(Page).text == "Always run the tests. Keep port 8080."
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, CheckpointPanel))
        await pilot.press(*["down"] * 7)
        assert listed(pilot).row is not None
        assert listed(pilot).row.item == 6  # type: ignore[union-attr]
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query(Page))


async def test_a_goal_has_the_first_request_s_item_or_is_read_in_full(session: LiveSession) -> None:
    async with opened(session) as pilot:
        assert rows(pilot)["goal"].item == 1
        session.append(GoalSet(text="Ship it, " + "and soon, " * 12 + "please."))
        await until(pilot, lambda: rows(pilot)["goal"].text.startswith("Ship it"))
        assert rows(pilot)["goal"].item is None
        listed(pilot).move(list(rows(pilot)).index("goal") - listed(pilot)._cursor)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen.query(Page))
        assert pilot.app.screen.query_one(Page).text.startswith("Ship it, and soon, and soon,")


async def test_the_cursor_steps_over_headings(session: LiveSession) -> None:
    async with opened(session) as pilot:
        seen = [listed(pilot).current]
        for _ in range(3):
            await pilot.press("down")
            seen.append(listed(pilot).current)
        assert seen == ["task", "step/1", "step/2", "step/3"]
        await pilot.press("up", "up", "up", "up", "up")
        assert listed(pilot).current == "task"
        await pilot.press("end")
        last = listed(pilot).row
        await pilot.press("down")
        assert listed(pilot).row == last is not None


async def test_it_follows_a_running_turn_and_the_cursor_stays(session: LiveSession) -> None:
    async with opened(session, "down", "down") as pilot:
        session.enter("tools")
        session.append(fact("db.port", "it is 5432", Dependency("src/auth.py", "b" * 40)))
        await until(pilot, lambda: "fact/db.port" in rows(pilot))
        assert rows(pilot)["fact/db.port"].sign == "✓"
        session.append(file("src/auth.py", "c" * 40, 12, "update"))
        await until(pilot, lambda: rows(pilot)["fact/db.port"].sign == "!")
        session.append(Item(n=13, kind="user", content="Now on to the logout."))
        await until(pilot, lambda: rows(pilot)["task"].text == "Now on to the logout.")
        assert listed(pilot).current == "step/2"


async def test_the_filter_narrows_under_the_headings(session: LiveSession) -> None:
    async with opened(session, "slash", *"auth", "enter") as pilot:
        shown = rows(pilot)
        assert shown
        assert all("auth" in f"{row.text} {row.note}" for row in listed(pilot).items)
        assert "Plan" not in {row.text for row in shown.values()}
        await pilot.press("escape")
        assert "Plan" in {row.text for row in rows(pilot).values()}
        await pilot.press("slash", *"nowhere", "enter")
        await until(pilot, lambda: "Nothing matches this filter." in said(pilot, ".about"))
        await pilot.press("enter", "escape", "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, CheckpointPanel))


async def test_what_cannot_be_read_is_told(
    session: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: int) -> SessionMemory:
        raise JournalError("The journal is damaged.")

    monkeypatch.setattr(session.compaction, "remembered", fails)
    app = make_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: session.approver is not None)
        app.open("checkpoint")
        await until(pilot, lambda: "✗ The journal is damaged." in said(pilot, ".said"))
        await pilot.press("down", "enter", "c", "escape")


def test_what_comes_from_a_session_cannot_act_on_the_terminal() -> None:
    session = live_session(gauge=None)
    session.append(Item(n=1, kind="user", content="Keep port 8080\x1b[2J\x9b31m now."))
    session.append(fact("k\x1b[2J", "v\x1b]0;owned\x07", Dependency("a\x1b[2J.py", "a" * 40)))
    kept = asyncio.run(session.compaction.remembered(1_000))
    for row in rows_of(kept, "goal \x1b[2J", 1):
        assert not {"\x1b", "\x9b", "\x07"} & set(f"{row.text}{row.note}")

"""Words in all sessions, on the screen."""

from datetime import UTC, datetime

from fakes.host import FakeCatalog, FakeHost
from fakes.live_session import live_session
from fakes.screen import make_app, until
from pinfold.catalog.catalog import SearchResult
from pinfold.catalog.searching import MATCH, MATCH_END, SearchHit
from pinfold.rollout.items import Item
from pinfold.tui.panels.find import FindPanel
from pinfold.tui.transcript.view import Transcript

AT = datetime(2026, 3, 1, tzinfo=UTC)


def hit(session: str, n: int, agent: int = 0) -> SearchHit:
    return SearchHit(
        kind="session",
        session=session,
        path=f"sessions/2026/03/01/{session}",
        agent=agent,
        n=n,
        item="user",
        at=AT,
        cwd="/home/ada/wc",
        title="Look at [b]kites",
        piece=f"the {MATCH}kite{MATCH_END} \x1b[2J of {n}",
    )


class Catalog(FakeCatalog):
    def search(self, typed: str, limit: int, now: datetime) -> SearchResult:
        if typed != "kite":
            return SearchResult(())
        return SearchResult((hit("here", 1), hit("0197a", 7), hit("0197a", 3, agent=2)), ("kite",))


class Host(FakeHost):
    @property
    def catalog(self) -> FakeCatalog:
        return Catalog((), self.texts)


async def test_tab_in_the_find_bar_searches_all_sessions_and_enter_opens_one_at_the_item() -> None:
    session = live_session(
        id="here", items=[Item(n=1, kind="user", content="A kite"), *_replies(2, 60)]
    )
    host = Host()
    app = make_app(session, host=host)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: session.approver)
        await pilot.press("ctrl+f", *"kite", "tab")
        await until(pilot, lambda: isinstance(app.screen, FindPanel) and app.screen.list.lines)
        panel = app.screen
        assert isinstance(panel, FindPanel)
        assert panel.input.value == "kite"
        assert "“kite” among the newest 50,000" in str(panel.query_one(".facts").render())
        drawn = [panel.list.render_line(y).text for y in range(3)]
        assert "#7" in drawn[1]
        assert "a2#3" in drawn[2]
        assert "\x1b" not in drawn[1]
        await pilot.press("enter")
        transcript = app.screen.query_one(Transcript)
        await until(pilot, lambda: transcript.current)
        assert transcript.current is not None
        assert transcript.current.n == 1
        assert host.opened == []
        await pilot.press("escape", *"/find --all kite", "enter")
        await until(pilot, lambda: isinstance(app.screen, FindPanel) and app.screen.list.lines)
        await pilot.press("down", "enter")
        await until(pilot, lambda: host.opened)
        assert host.opened == ["resume 0197a"]


def _replies(first: int, last: int) -> list[Item]:
    return [Item(n=n, kind="assistant", content=f"Reply {n}") for n in range(first, last)]

"""An adopted session shows what its next request will carry: our set-up, not the other tool's."""

from pathlib import Path

from fakes.agent import stage
from fakes.foreign import codex_session
from pinfold.adopt.codex import read_lines
from pinfold.rollout.store import SessionStore


async def test_our_set_up_takes_the_place_of_the_other_tools(tmp_path: Path) -> None:
    adoption = read_lines(codex_session().encoded(), Path("rollout.jsonl"))
    store = SessionStore(tmp_path / "home")
    at = await stage(
        tmp_path,
        [],
        journal=lambda: store.adopt(adoption.events, tmp_path, "1", lambda: adoption.started_at),
    )
    assert [row.part for row in at.session.window.overview().context].count("tools") == 0
    await at.session.move_in()
    assert [row.part for row in at.session.window.overview().context].count("tools") > 5
    count = len(at.events())
    await at.session.move_in()
    assert len(at.events()) == count, "once is enough"


async def test_a_session_of_our_own_stays_as_it_is(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    count = len(at.events())
    await at.session.move_in()
    assert len(at.events()) == count

"""An adopted session goes on like one of our own."""

from pathlib import Path

from fakes.agent import stage
from fakes.foreign import codex_session
from fakes.openai_rules import chat_complaint
from fakes.provider import FakeClock, says
from pinfold.adopt.codex import read_lines
from pinfold.rollout.store import SessionStore
from pinfold.wire.chat.render import messages


async def test_the_next_request_is_one_that_openai_takes(tmp_path: Path) -> None:
    adoption = read_lines(codex_session().encoded(), Path("rollout.jsonl"))
    store = SessionStore(tmp_path / "home")
    work = (tmp_path / "work").resolve()
    on = await stage(
        tmp_path,
        [says("On it.")],
        journal=lambda: store.adopt(adoption.events, work, "test", FakeClock().now),
    )
    on.session.send("Go on.")
    await on.session.idle()
    (request,) = on.provider.requests
    sent = messages(request.context, request.items, request.model)
    assert chat_complaint(sent) is None
    assert sent[-1]["content"].endswith("Go on.")
    assert [item.content for item in on.session.items][-2:] == ["Go on.", "On it."]
    await on.session.close()

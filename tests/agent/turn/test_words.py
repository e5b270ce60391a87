"""The journal says which words are the user's."""

import asyncio
import json
from pathlib import Path

from fakes.agent import stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.ports.approver import Decision
from pinfold.rollout import provenance
from pinfold.rollout.events import PromptQueued

LOG = "We decided to drop TLS.\nNever run the tests."
SHELL = calls(("c1", "shell", json.dumps({"command": "true"})))


async def test_a_prompt_says_what_of_it_was_typed(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("1"), says("2"), says("3")])
    text = f"review this\n{LOG}"
    on.session.send("plain")
    on.session.send(text, provenance.find(text, [LOG]))
    on.session.send(LOG, [(0, len(LOG))])
    await on.session.idle()
    assert [item.detail for item in on.items("user")] == [
        {"act": "said", "pasted": []},
        {"act": "said", "pasted": [[12, 12 + len(LOG)]]},
        {"act": "pasted", "pasted": [[0, len(LOG)]]},
    ]
    assert [provenance.typed(item) for item in on.items("user")] == [["plain"], ["review this"], []]
    queued = on.events_of(PromptQueued)
    assert [event.pasted for event in queued] == [((12, 12 + len(LOG)),), ((0, len(LOG)),)]


async def test_what_waited_when_it_closed_brings_its_pastes_into_the_draft(tmp_path: Path) -> None:
    gate = asyncio.Event()
    on = await stage(tmp_path, [[gate]])
    on.session.send("first")
    await on.until(lambda: bool(on.provider.requests))
    on.session.send(f"see {LOG}", [(4, 4 + len(LOG))])
    on.session.save_draft(f"half {LOG}", (LOG,))
    again = await on.again()
    draft = again.session.draft()
    assert draft.text == f"see {LOG}\n\nhalf {LOG}"
    assert set(draft.pasted) == {LOG}
    assert not again.session.queue
    assert not again.provider.requests


async def test_the_goal_is_the_first_thing_that_the_user_typed(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("1"), says("2")])
    on.session.send(LOG, [(0, len(LOG))])
    await on.say("Fix the cart.")
    assert on.session.window.goal == "Fix the cart."


async def test_a_command_of_the_users_is_their_word_and_its_output_is_data(tmp_path: Path) -> None:
    on = await stage(tmp_path, [])
    on.session.run_command("echo never use tabs")
    await on.session.idle()
    (ran,) = on.session.items
    assert ran.detail["act"] == "said"
    assert provenance.typed(ran) == ["!echo never use tabs"]


async def test_words_given_with_a_no_are_apart_from_what_the_host_wrote(tmp_path: Path) -> None:
    note = f"use port 8080\n{LOG}"
    no = Decision("no", note, pasted=((14, len(note)),))
    on = await stage(tmp_path, [SHELL, says("ok")], no, options=Options(approvals="ask"))
    await on.say("go")
    result = on.items("tool_result")[0]
    assert note in result.content
    assert result.detail["act"] == "refused"
    assert provenance.typed(result) == ["use port 8080"]


async def test_a_refusal_by_the_mode_holds_nobodys_words(tmp_path: Path) -> None:
    on = await stage(tmp_path, [SHELL, says("ok")], options=Options(approvals="read-only"))
    await on.say("go")
    result = on.items("tool_result")[0]
    assert result.detail["act"] == "refused"
    assert provenance.typed(result) == []


async def test_a_prompt_of_pinfolds_own_is_nobodys_word(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("1"), says("2")])
    await on.session.send("Never use tabs.", ours=True)
    await on.session.send("Fix the cart.")
    await on.session.idle()
    first, _ = on.items("user")
    assert first.detail["act"] == "host"
    assert provenance.typed(first) == []
    assert on.session.window.goal == "Fix the cart."

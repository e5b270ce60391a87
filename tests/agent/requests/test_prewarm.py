"""A request ahead of the prompt: tagged, no turn, and only where it is wanted."""

import asyncio
import json
from pathlib import Path

from fakes.agent import Stage, stage
from fakes.provider import says
from pinfold.agent.compaction.trigger import BY_HAND
from pinfold.agent.options import Options
from pinfold.agent.requests.metadata import HEADER, Metadata
from pinfold.rollout.events import RequestFinished, TurnStarted


async def talked(root: Path, options: Options) -> Stage:
    at = await stage(root, [says("Hello."), says("x"), says("Well.")], options=options)
    at.session.typed()  # there is nothing yet that a cache could hold
    await at.say("hi")
    return at


async def test_typing_warms_the_window_once_and_is_no_turn(tmp_path: Path) -> None:
    at = await talked(tmp_path, Options(prewarm=True))
    at.session.typed()
    at.session.typed()
    await at.until(lambda: len(at.events_of(RequestFinished)) == 2)
    sent = at.provider.requests[-1]
    assert (len(at.provider.requests), sent.max_output) == (2, 1)
    assert json.loads(sent.headers[HEADER])["request_kind"] == "prewarm"
    assert [request.purpose for request in at.events_of(RequestFinished)] == ["turn", "prewarm"]
    assert len(at.events_of(TurnStarted)) == 1
    assert at.kinds() == ["user", "assistant"]
    assert at.session.reading().source == "measured"


async def test_it_is_off_unless_it_is_wanted(tmp_path: Path) -> None:
    at = await talked(tmp_path, Options())
    at.session.typed()
    await asyncio.sleep(0)
    assert len(at.provider.requests) == 1


async def test_the_prompt_that_comes_breaks_it_off(tmp_path: Path) -> None:
    gate = asyncio.Event()
    at = await stage(
        tmp_path, [says("Hello."), [gate], says("Well.")], options=Options(prewarm=True)
    )
    await at.say("hi")
    at.session.typed()
    await at.until(lambda: True)
    await at.say("how are you?")
    assert at.session.items[-1].content == "Well."


async def test_whatever_goes_wrong_is_noted_and_no_more(tmp_path: Path) -> None:
    script = [says("Hello."), [RuntimeError("a bug")]]
    at = await stage(tmp_path, script, options=Options(prewarm=True))
    await at.say("hi")
    at.session.typed()
    await at.until(lambda: len(at.events_of(RequestFinished)) == 2)
    assert at.events_of(RequestFinished)[-1].status == "RuntimeError"


async def test_turns_say_what_they_are(tmp_path: Path) -> None:
    at = await talked(tmp_path, Options())
    told = json.loads(at.provider.requests[0].headers[HEADER])
    state = f"{at.session.id}:1"
    assert told == {
        "request_kind": "turn",
        "session_id": at.session.id,
        "thread_id": at.session.id,
        "turn_id": state,
        "window_id": f"{at.session.id}:0",
    }
    assert at.events_of(RequestFinished)[0].window_id == f"{at.session.id}:0"


async def test_a_name_that_is_not_ascii_leaves_the_header_json(tmp_path: Path) -> None:
    at = await stage(tmp_path, [])
    metadata = Metadata(at.session._record, wanted=True)
    header = metadata.headers("compaction", BY_HAND.compaction("résumé"))[HEADER]
    assert header.isascii()
    assert json.loads(header)["compaction"]["strategy"] == "résumé"


async def test_a_user_can_have_no_metadata_sent(tmp_path: Path) -> None:
    at = await talked(tmp_path, Options(turn_metadata=False))
    assert at.provider.requests[0].headers == {}

"""Replies that were cut off, broke or came empty: what the model is told, and what is asked."""

from pathlib import Path

from fakes.agent import Stage, stage
from fakes.provider import COUNTED, Step, calls, says
from pinfold.agent.options import Options
from pinfold.agent.turn.ending import Ending
from pinfold.agent.turn.turn import MOST_CUTS
from pinfold.ports.errors import NetworkError
from pinfold.ports.provider import CallDelta, PartDone, ResponseDone, TextDelta

FULL = Options(approvals="full")
PATCH = '{"patch": "*** Begin Patch\\n*** Add File: a.txt\\n+on'
CUT = ResponseDone(COUNTED, "length")
MIDDLE = (
    "[Your reply reached the output limit in the middle of a call of apply_patch, which did not "
    "run. Send it in smaller parts.]"
)


async def sent(root: Path, *script: list[Step]) -> tuple[Stage, Ending]:
    on = await stage(root, script, options=FULL)
    ending = await on.session.send("go")
    return on, ending


def texts(on: Stage, kind: str) -> list[str]:
    return [item.content for item in on.session.items if item.kind == kind]


async def test_a_call_that_the_limit_cut_does_not_run_and_the_model_knows_why(
    tmp_path: Path,
) -> None:
    """The call stands in the window as it came, and its result explains it."""
    cut: list[Step] = [
        PartDone("tool_call", '{"command": "echo whole"}', "c1", "shell"),
        PartDone("tool_call", PATCH, "c2", "apply_patch"),
        CUT,
    ]
    on, ending = await sent(tmp_path, cut, says("Done in parts."))
    assert ending.state == "done"
    ran, explained = texts(on, "tool_result")
    assert ran.startswith("whole\n")
    assert explained == MIDDLE
    assert not (tmp_path / "work" / "a.txt").exists()
    await on.session.close()


async def test_a_call_that_never_came_is_named(tmp_path: Path) -> None:
    cut: list[Step] = [CallDelta(0, "apply_patch", PATCH), CUT]
    on, ending = await sent(tmp_path, cut, says("Done in parts."))
    assert ending.answer == "Done in parts."
    assert texts(on, "context") == [MIDDLE]
    await on.session.close()


async def test_replies_that_are_always_cut_end_the_turn(tmp_path: Path) -> None:
    cut: list[Step] = [CallDelta(0, "apply_patch", PATCH), CUT]
    on, ending = await sent(tmp_path, *[list(cut) for _ in range(MOST_CUTS)])
    assert (ending.state, ending.limit) == ("done", "output")
    assert texts(on, "context") == [MIDDLE] * MOST_CUTS
    await on.session.close()


async def test_a_text_that_was_cut_ends_the_turn_and_the_model_knows(tmp_path: Path) -> None:
    cut: list[Step] = [TextDelta("Half a"), PartDone("assistant", "Half a"), CUT]
    on, ending = await sent(tmp_path, cut)
    assert ending.limit == "output"
    assert texts(on, "context") == ["[Your reply reached the output limit and was cut there.]"]
    await on.session.close()


async def test_a_stream_that_broke_inside_a_call_says_which_was_lost(tmp_path: Path) -> None:
    broken: list[Step] = [
        PartDone("tool_call", '{"command": "echo whole"}', "c1", "shell"),
        CallDelta(1, "apply_patch", PATCH),
        NetworkError("The connection broke."),
    ]
    on, ending = await sent(tmp_path, broken, says("Went on."))
    assert ending.state == "done"
    assert on.kinds() == ["user", "tool_call", "tool_result", "context", "assistant"]
    assert texts(on, "context") == [
        "[The connection broke inside a call of apply_patch, which did not run. Make it again.]"
    ]
    assert "The connection broke. A call of apply_patch was lost." in on.told()
    await on.session.close()


async def test_an_empty_reply_is_asked_once_more(tmp_path: Path) -> None:
    empty: list[Step] = [ResponseDone(COUNTED, "stop")]
    on, ending = await sent(tmp_path, list(empty), says("Here."))
    assert ending.answer == "Here."
    assert on.provider.requests[0].items == on.provider.requests[1].items
    await on.session.close()
    (tmp_path / "b").mkdir()
    on, ending = await sent(tmp_path / "b", list(empty), list(empty))
    assert (ending.state, ending.answer) == ("done", "")
    assert on.told()[-1] == "The model sent an empty reply."
    await on.session.close()


async def test_after_a_call_an_empty_reply_is_asked_again(tmp_path: Path) -> None:
    empty: list[Step] = [ResponseDone(COUNTED, "stop")]
    call = calls(("c1", "shell", '{"command": "true"}'))
    on, ending = await sent(tmp_path, list(empty), call, list(empty), says("Here."))
    assert ending.answer == "Here."
    await on.session.close()

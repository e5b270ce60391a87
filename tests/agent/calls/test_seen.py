"""An edit of a file that has changed since the model read it."""

import json
from pathlib import Path

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options

FULL = Options(approvals="full")
READ = ("c1", "read_file", json.dumps({"path": "a.txt"}))


def edit(old: str, new: str) -> tuple[str, str, str]:
    return ("c2", "edit_file", json.dumps({"path": "a.txt", "old_string": old, "new_string": new}))


async def send(on: Stage) -> str:
    """The last result that the model read."""
    await on.say("go")
    return next(i for i in reversed(on.session.items) if i.kind == "tool_result").content


async def test_it_is_refused_with_the_difference_and_then_made(tmp_path: Path) -> None:
    file = tmp_path / "work" / "a.txt"
    change = edit("one", "1")
    script = [calls(READ), says("Read."), calls(change), says("No."), calls(change), says("Done.")]
    on = await stage(tmp_path, script, options=FULL)
    file.write_text("one\ntwo\n")
    await send(on)
    file.write_text("one\n2\n")
    said = await send(on)
    assert said.startswith("Nothing was edited. a.txt has changed since you read it:\n")
    assert "\n-two\n+2\n" in said
    assert file.read_text() == "one\n2\n"
    assert (await send(on)).startswith("Edited a.txt")
    assert file.read_text() == "1\n2\n"
    await on.session.close()


async def test_its_own_edits_are_no_surprise(tmp_path: Path) -> None:
    on = await stage(
        tmp_path,
        [calls(READ), calls(edit("one", "1")), calls(edit("two", "2")), says("Done.")],
        options=FULL,
    )
    file = tmp_path / "work" / "a.txt"
    file.write_text("one\ntwo\n")
    assert (await send(on)).startswith("Edited a.txt")
    assert file.read_text() == "1\n2\n"
    await on.session.close()


async def test_a_file_that_was_never_read_may_be_edited(tmp_path: Path) -> None:
    on = await stage(tmp_path, [calls(edit("one", "1")), says("Done.")], options=FULL)
    (tmp_path / "work" / "a.txt").write_text("one\n")
    assert (await send(on)).startswith("Edited a.txt")
    await on.session.close()


async def test_a_session_that_is_open_again_knows_what_was_read(tmp_path: Path) -> None:
    """Of a text that is not known any more the difference can't be shown: it is read again."""
    file = tmp_path / "work" / "a.txt"
    on = await stage(tmp_path, [calls(READ), says("Read.")], options=FULL)
    file.write_text("one\ntwo\n")
    await send(on)
    await on.session.close()
    file.write_text("one\n2\n")
    script = [calls(edit("one", "1")), calls(READ), calls(edit("one", "1")), says("Done.")]
    again = await on.again(script, options=FULL)
    assert (await send(again)).startswith("Edited a.txt")
    results = again.texts("tool_result")
    refused = "Nothing was edited. a.txt has changed since you read it. Read it again."
    assert results[1] == refused
    await again.session.close()

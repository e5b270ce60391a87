"""Edits of files that nothing names: asked about after a compaction, and told where nobody asks."""

import json
from pathlib import Path

import pytest

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.ports.approver import Decision
from pinfold.rollout.events import ApprovalDecided
from pinfold.settings import Drift, Mode

SAID = "which neither the task, the plan nor anything read since names"


def writes(path: str, call_id: str = "c9") -> list:
    return calls((call_id, "write_file", json.dumps({"path": path, "content": "x\n"})))


def options(
    mode: Mode = "workspace", drift: Drift = "after-compaction", *, attended: bool = True
) -> Options:
    return Options(approvals=mode, drift=drift, attended=attended)


async def compacted(root: Path, *answers: Decision, with_options: Options | None = None) -> Stage:
    """A session that is compacted after its first turns."""
    on = await stage(root, [], *answers, options=with_options or options())
    await talked(on)
    return on


async def talked(on: Stage) -> None:
    for _ in range(3):
        await sent(on, "What is there to do in src/words.py?", says("All is in place. " * 300))
    await sent(on, "Then make the tests of src/words.py faster", says("Yes."))
    await on.session.compact("checkpoint")


async def sent(on: Stage, prompt: str, *script: list) -> None:
    on.provider.script += script
    await on.say(prompt)
    assert on.ended == "done"


async def test_an_edit_of_an_unnamed_file_asks_after_a_compaction(tmp_path: Path) -> None:
    on = await compacted(tmp_path, Decision("yes"))
    script = [writes("src/words.py"), writes("other/x.py", "c8"), writes("other/y.py", "c7")]
    await sent(on, "go on", *script, says("Done."))
    assert [question.reason for question in on.user.asked] == [f"edits other/x.py, {SAID}"]
    assert on.user.asked[0].folders == ("other",)
    assert [(event.verdict, event.asked) for event in on.events_of(ApprovalDecided)] == [
        ("yes", f"edits other/x.py, {SAID}")
    ]
    assert (tmp_path / "work/other/y.py").exists()


async def test_a_no_holds_and_the_model_is_told(tmp_path: Path) -> None:
    refusal = Decision("no", "leave other/x.py alone")
    on = await compacted(tmp_path, refusal, refusal)
    await sent(on, "go on", writes("other/x.py"), writes("other/x.py", "c8"), says("Done."))
    assert len(on.user.asked) == 2
    assert not (tmp_path / "work/other/x.py").exists()


async def test_the_next_request_ends_it(tmp_path: Path) -> None:
    on = await compacted(tmp_path)
    await sent(on, "Now something else for me", writes("other/x.py"), says("Done."))
    assert not on.user.asked


async def test_without_a_compaction_nothing_asks(tmp_path: Path) -> None:
    on = await stage(tmp_path, [], options=options())
    await sent(on, "Mend the words of it", writes("other/x.py"), says("Done."))
    assert not on.user.asked


async def test_a_session_that_is_resumed_asks(tmp_path: Path) -> None:
    on = await stage(tmp_path, [says("one")], options=options())
    await sent(on, "Write down what there is to do")
    again = await on.again([], Decision("yes"), options=options())
    await sent(again, "go on", writes("other/x.py"), says("Done."))
    assert len(again.user.asked) == 1


async def test_always_and_off(tmp_path: Path) -> None:
    for name, drift, asked in (("a", "always", 1), ("b", "off", 0)):
        root = tmp_path / name
        root.mkdir()
        on = await compacted(root, Decision("yes"), with_options=options(drift=drift))  # type: ignore[arg-type]
        await sent(on, "Now something else for me", writes("other/x.py"), says("Done."))
        assert len(on.user.asked) == asked


async def test_a_folder_stays_allowed_across_requests(tmp_path: Path) -> None:
    on = await compacted(tmp_path, Decision("always"))
    await sent(on, "go on", writes("other/x.py"), says("Done."))
    assert on.events_of(ApprovalDecided)[0].folders == ("other",)
    assert on.events_of(ApprovalDecided)[0].prefix is None
    await talked(on)
    await sent(on, "go on", writes("other/z.py"), says("Done."))
    assert len(on.user.asked) == 1


async def test_pins_name_files(tmp_path: Path) -> None:
    on = await compacted(tmp_path)
    await on.session.window.act("pin", ["other/**"])
    await sent(on, "go on", writes("other/x.py"), says("Done."))
    assert not on.user.asked


async def test_ask_mode_says_why_and_offers_no_folder(tmp_path: Path) -> None:
    on = await compacted(tmp_path, Decision("yes"), with_options=options("ask"))
    await sent(on, "go on", writes("other/x.py"), says("Done."))
    assert on.user.asked[0].reason == f"edits other/x.py, {SAID}"
    assert on.user.asked[0].folders == ()


@pytest.mark.parametrize(
    "quiet", [options("full"), options("workspace", attended=False)], ids=["full", "exec"]
)
async def test_where_nobody_is_asked_it_is_told(tmp_path: Path, quiet: Options) -> None:
    on = await compacted(tmp_path, with_options=quiet)
    await sent(on, "go on", writes("other/x.py"), says("Done."))
    assert not on.user.asked
    assert f"Edits other/x.py, {SAID}." in on.told()
    assert [(event.verdict, event.asked) for event in on.events_of(ApprovalDecided)] == [
        ("policy", f"edits other/x.py, {SAID}")
    ]
    assert (tmp_path / "work/other/x.py").exists()

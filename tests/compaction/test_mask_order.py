"""Which bodies masks take first, which they spare, and what stands in their place."""

import json
from pathlib import Path
from typing import Any

from fakes.agent import Stage, stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.compaction.mask_order import saved, spared, superseded
from pinfold.compaction.view import WindowView

LONG = "".join(f"value_{n} = compute({n} * 17, limit={n})\n" for n in range(60))
FULL = Options(approvals="full", auto="off")


def call(key: str, name: str, **arguments: Any) -> tuple[str, str, str]:
    return key, name, json.dumps(arguments)


def run(key: str, command: str) -> tuple[str, str, str]:
    return call(key, "shell", command=command)


async def worked(root: Path, *turns: list[tuple[str, str, str]]) -> Stage:
    """A session with a response for each call."""
    (root / "work").mkdir()
    for name in ("a.py", "b.py"):
        (root / "work" / name).write_text(LONG)
    script = [step for turn in turns for step in (*(calls(pair) for pair in turn), says("Done."))]
    at = await stage(root, script, options=FULL)
    for _ in turns:
        at.session.send("go on")
        await at.session.idle()
    return at


async def sorted_out(at: Stage) -> tuple[WindowView, set[str], set[str]]:
    """The view, and the moves that are superseded and spared."""
    view = await at.session.compaction.view()
    owners = {item.n: item.call_id or "" for item in at.session.items}
    every = (superseded(view), spared(view))
    old, used = ({owners[n] for n in some} - {""} for some in every)
    return view, old, used


FILLER = [run(f"f{n}", f"echo {n}") for n in range(4)]


async def test_old_versions_go_first_and_the_newest_of_the_turn_stay(tmp_path: Path) -> None:
    at = await worked(
        tmp_path,
        [call("other", "read_file", path="b.py")],
        [
            call("read", "read_file", path="a.py"),
            call("write", "write_file", path="a.py", content=LONG + "x = 1\n"),
            call("edit1", "edit_file", path="a.py", old_string="x = 1", new_string="x = 2"),
            call("edit2", "edit_file", path="a.py", old_string="x = 2", new_string="x = 3"),
            *FILLER,
        ],
    )
    _, old, used = await sorted_out(at)
    assert old == {"read", "edit1"}
    assert used == {"write", "edit2", *(key for key, *_ in FILLER[1:])}


async def test_an_error_stays_until_the_same_command_succeeds(tmp_path: Path) -> None:
    fails = "test -e ready || { seq 1 90; false; }"
    turn = [run("one", fails), run("two", fails), run("else", "seq 200 300; false"), *FILLER]
    at = await worked(tmp_path, turn, [run("make", "touch ready"), run("three", fails), *FILLER])
    _, old, used = await sorted_out(at)
    assert {"one", "two"} <= old
    assert "else" in used


async def test_a_failed_edit_stays_until_its_file_is_edited(tmp_path: Path) -> None:
    lines = ["*** Begin Patch", "*** Update File: a.py", "@@", *["-lost"] * 90, "+found"]
    patch = "\n".join([*lines, "*** End Patch"])
    at = await worked(tmp_path, [call("bad", "apply_patch", patch=patch), *FILLER])
    _, _, used = await sorted_out(at)
    assert "bad" in used
    by_name = {item.kind: item for item in at.session.items if item.call_id == "bad"}
    result = by_name["tool_result"]
    await at.session.window.act("mask", [result.n])
    shown = {item.n: item.content for item in at.session.window.items}
    assert shown[result.n].startswith(f"[#{result.n} apply_patch a.py: failed, Nothing was changed")
    call_n = by_name["tool_call"].n
    assert json.loads(shown[call_n]) == {
        "patch": f'[masked: {patch.count(chr(10)) + 1} lines; recall {{"id": {call_n}}}]'
    }


async def test_a_mask_pays_or_is_not_made(tmp_path: Path) -> None:
    at = await worked(
        tmp_path,
        [
            run("short", "seq 1 40"),
            run("long", "seq 1 400"),
            call("write", "write_file", path="c.py", content=LONG),
            call("path", "read_file", path="b.py"),
        ],
    )
    view = await at.session.compaction.view()
    owners = {item.n: (item.call_id, item.kind) for item in at.session.items}
    pays = {owners[entry.n] for entry in view.entries if saved(entry, view)}
    assert pays == {
        ("long", "tool_result"),
        ("write", "tool_call"),
        ("path", "tool_result"),
    }

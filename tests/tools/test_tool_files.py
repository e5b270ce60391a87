import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinfold.ports.tool import Observation, Tool, ToolContext, ToolError
from pinfold.rollout.blobs import Blobs
from pinfold.tools import workspace

Run = Callable[..., Any]


def bytes_before(seen: Observation, context: ToolContext) -> bytes:
    assert seen.backup
    data = Blobs(context.folder).read(seen.backup)
    assert data is not None
    return data


# read_file, list_dir


async def test_lines_come_numbered_and_a_part_says_how_to_go_on(run: Run, work: Path) -> None:
    (work / "x").write_text("one\ntwo\nthree\nfour\n")
    whole = await run("read_file", path="x")
    assert whole.output == "1\tone\n2\ttwo\n3\tthree\n4\tfour"
    assert whole.observations == (
        Observation("x", "file", "read", workspace.hash_file(work / "x")),
    )
    part = await run("read_file", path="x", offset=2, limit=2)
    assert part.output == "2\ttwo\n3\tthree\n[lines 2-3 of 4; read on with offset 4]"
    assert part.detail == {"path": "x", "lines": 2, "span": [2, 3], "whole": False}


async def test_a_large_file_is_read_in_parts_that_miss_no_line(run: Run, work: Path) -> None:
    (work / "x").write_text("".join(f"{n} {'x' * 90}\n" for n in range(3000)))
    offset, numbers = 1, []
    while offset <= 3000:
        outcome = await run("read_file", path="x", offset=offset)
        assert len(outcome.output) <= 64_100
        lines = [line for line in outcome.output.split("\n") if "\t" in line]
        numbers += [int(line.split("\t")[0]) for line in lines]
        offset = numbers[-1] + 1
    assert numbers == list(range(1, 3001))


async def test_what_is_unusual_about_a_file_stands_below_it(run: Run, work: Path) -> None:
    (work / "x").write_bytes(b"\xef\xbb\xbfa\r\nb")
    outcome = await run("read_file", path="x")
    assert outcome.output == ("1\ta\n2\tb\n[CRLF line ends; utf-8 with BOM; no newline at the end]")
    (work / "empty").write_bytes(b"")
    assert (await run("read_file", path="empty")).output == "[the file is empty]"


async def test_what_cannot_be_read_is_refused_with_the_reason(run: Run, work: Path) -> None:
    (work / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1490))
    (work / "settings.py").write_text("x\n")
    os.mkfifo(work / "pipe")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"path": "pic.png"}, "pic.png is not text: a PNG image, 1.5 kB"),
        ({"path": "setings.py"}, "does not exist. Did you mean settings.py?"),
        ({"path": "."}, "is a folder; list_dir"),
        ({"path": "pipe"}, "a device, pipe or socket"),
        ({"path": "settings.py", "offset": 9}, "has 1 lines; there is no line 9"),
        ({"path": "settings.py", "ofset": 9}, "ofset: Extra inputs"),
        ({}, "path: Field required"),
    ]
    for arguments, reason in refused:
        with pytest.raises(ToolError, match=reason):
            await run("read_file", **arguments)


async def test_arguments_that_are_no_json_are_refused(
    context: ToolContext, tools: dict[str, Tool]
) -> None:
    for tool in tools.values():
        with pytest.raises(ToolError, match="do not fit"):
            tool.review('{"path": ', context)


async def test_a_folder_is_listed_with_sizes_and_link_targets(run: Run, work: Path) -> None:
    (work / "b").mkdir()
    (work / "a.txt").write_text("12345")
    (work / "gone").symlink_to("nowhere")
    outcome = await run("list_dir")
    assert outcome.output == "b/\na.txt  5 bytes\ngone -> nowhere"
    with pytest.raises(ToolError, match="is a file; read_file reads it"):
        await run("list_dir", path="a.txt")


# edit_file


async def test_an_edit_changes_what_it_names_and_nothing_else(
    run: Run, context: ToolContext, work: Path
) -> None:
    before = "\ufeffone\r\ntwo é\nthree\r\nfour".encode()
    (work / "x").write_bytes(before)
    (work / "x").chmod(0o750)
    outcome = await run("edit_file", path="x", old_string="two é\nthree", new_string="2\n3")
    assert (work / "x").read_bytes() == "\ufeffone\r\n2\n3\r\nfour".encode()
    assert workspace.file_mode(work / "x") == 0o750
    (seen,) = outcome.observations
    assert (seen.uri, seen.op, seen.hash) == ("x", "update", workspace.hash_file(work / "x"))
    assert bytes_before(seen, context) == before
    assert (outcome.detail["added"], outcome.detail["removed"]) == (2, 2)
    assert "-two é\n-three\n+2\n+3\n" in outcome.detail["diff"]


async def test_an_edit_through_a_symlink_reaches_the_file(run: Run, work: Path) -> None:
    (work / "real").write_text("a\n")
    (work / "link").symlink_to("real")
    await run("edit_file", path="link", old_string="a", new_string="b")
    assert (work / "link").is_symlink()
    assert (work / "real").read_text() == "b\n"


async def test_text_that_occurs_twice_needs_replace_all(run: Run, work: Path) -> None:
    (work / "x").write_text("a\nb\na\n")
    with pytest.raises(ToolError, match="it starts at lines 1, 3"):
        await run("edit_file", path="x", old_string="a", new_string="c")
    await run("edit_file", path="x", old_string="a", new_string="c", replace_all=True)
    assert (work / "x").read_text() == "c\nb\nc\n"


@pytest.mark.parametrize(
    ("old", "reason"),
    [
        (
            "def f():\n    return 1",
            "only in indentation begin at line 2.*Line 3 is '\\\\treturn 1'",
        ),
        ("x = 1\ny = 2", "only in whitespace at line ends begin at line 4.*'x = 1  '"),
        ("print('hi')", "only in typographic characters begin at line 6"),
        ("y=2", "only in whitespace begin at line 5"),
        ("Y = 2", "only in upper and lower case begin at line 5"),
        ("4\tx = 1\n5\ty = 2", "Leave out the line numbers"),
        ("def f(n):\n", "nearest lines begin at line 2. Line 2 is 'def f\\(\\):'"),
        ("entirely elsewhere", "Nothing in the file is similar"),
    ],
)
async def test_a_near_miss_is_told(run: Run, work: Path, old: str, reason: str) -> None:
    (work / "x").write_text("\ndef f():\n\treturn 1\nx = 1  \ny = 2\nprint(‘hi’)\n")
    with pytest.raises(ToolError, match=reason):
        await run("edit_file", path="x", old_string=old, new_string="new")


async def test_text_that_the_encoding_cannot_hold_changes_nothing(run: Run, work: Path) -> None:
    (work / "x").write_bytes("café".encode("latin-1"))
    with pytest.raises(ToolError, match="was not edited: the file is latin-1"):
        await run("edit_file", path="x", old_string="caf", new_string="€")
    assert (work / "x").read_bytes() == "café".encode("latin-1")


# write_file


async def test_a_new_file_comes_with_its_folders(run: Run, work: Path) -> None:
    outcome = await run("write_file", path="a/b/x", content="one\n")
    assert (work / "a/b/x").read_text() == "one\n"
    assert outcome.output == "Created a/b/x (+1 -0)."
    (seen,) = outcome.observations
    assert (seen.op, seen.backup) == ("create", None)


async def test_a_rewritten_file_keeps_its_form(run: Run, context: ToolContext, work: Path) -> None:
    (work / "x").write_bytes("a\r\nb\r\n".encode("utf-16"))
    outcome = await run("write_file", path="x", content="a\nc\n")
    assert (work / "x").read_bytes() == "a\r\nc\r\n".encode("utf-16")
    assert bytes_before(outcome.observations[0], context) == "a\r\nb\r\n".encode("utf-16")
    await run("write_file", path="y", content="a\n")
    await run("write_file", path="y", content="a\r\n")
    assert (work / "y").read_bytes() == b"a\r\n"


async def test_a_binary_file_can_be_replaced_and_is_kept(
    run: Run, context: ToolContext, work: Path
) -> None:
    (work / "x").write_bytes(b"\0\1\2")
    outcome = await run("write_file", path="x", content="text\n")
    assert bytes_before(outcome.observations[0], context) == b"\0\1\2"
    assert outcome.detail["diff"] == "Binary file x is replaced\n"


# apply_patch


async def test_a_patch_changes_all_its_files(run: Run, context: ToolContext, work: Path) -> None:
    (work / "a").write_bytes(b"1\r\n2\r\n")
    (work / "old.sh").write_text("x\n")
    (work / "old.sh").chmod(0o755)
    (work / "bin").write_bytes(b"\0")
    outcome = await run(
        "apply_patch",
        patch="*** Begin Patch\n*** Update File: a\n 1\n-2\n+3\n*** Add File: n/new\n+hi\n"
        "*** Update File: old.sh\n*** Move to: sub/new.sh\n-x\n+y\n*** Delete File: bin\n"
        "*** End Patch",
    )
    assert (work / "a").read_bytes() == b"1\r\n3\r\n"
    assert (work / "n/new").read_text() == "hi\n"
    assert (work / "sub/new.sh").read_text() == "y\n"
    assert workspace.file_mode(work / "sub/new.sh") == 0o755
    assert not (work / "old.sh").exists()
    assert [(seen.op, seen.uri) for seen in outcome.observations] == [
        ("update", "a"),
        ("create", "n/new"),
        ("create", "sub/new.sh"),
        ("delete", "old.sh"),
        ("delete", "bin"),
    ]
    assert bytes_before(outcome.observations[4], context) == b"\0"
    assert outcome.detail["paths"] == ["a", "n/new", "sub/new.sh", "old.sh", "bin"]


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ("*** Update File: b\n-gone\n+x\n", "b: hunk 1 .* does not apply"),
        ("*** Add File: b\n+x\n", "b exists already"),
        ("*** Delete File: nothing\n", "nothing does not exist"),
        ("*** Update File: b\n*** Move to: a\n", "a exists already"),
        ("*** Delete File: b\n*** Update File: b\n-b\n+c\n", "removed by an earlier part"),
    ],
)
async def test_a_patch_that_does_not_wholly_apply_changes_nothing(
    run: Run, work: Path, sections: str, reason: str
) -> None:
    (work / "a").write_text("a\n")
    (work / "b").write_text("b\n")
    with pytest.raises(ToolError, match=reason):
        await run(
            "apply_patch",
            patch=f"*** Begin Patch\n*** Update File: a\n-a\n+A\n{sections}*** End Patch",
        )
    assert (work / "a").read_text() == "a\n"
    assert (work / "b").read_text() == "b\n"


async def test_sections_build_on_one_another(run: Run, work: Path) -> None:
    (work / "a").write_text("1\n2\n")
    await run(
        "apply_patch",
        patch="*** Begin Patch\n*** Update File: a\n-1\n+one\n*** Update File: a\n one\n-2\n+two\n"
        "*** End Patch",
    )
    assert (work / "a").read_text() == "one\ntwo\n"


# All


def test_a_review_names_the_real_paths_and_changes_nothing(
    context: ToolContext, tools: dict[str, Tool], work: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("s\n")
    (work / "link").symlink_to(tmp_path / "secret")
    for name, arguments in [
        ("read_file", '{"path": "link"}'),
        ("edit_file", '{"path": "link", "old_string": "s", "new_string": "t"}'),
        ("write_file", '{"path": "link", "content": "t"}'),
        ("apply_patch", '{"patch": "*** Begin Patch\\n*** Delete File: link\\n*** End Patch"}'),
    ]:
        review = tools[name].review(arguments, context)
        assert review.paths == (tmp_path.resolve() / "secret",)
        assert (review.access == "read") == tools[name].read_only
    assert (tmp_path / "secret").read_text() == "s\n"


def test_schemas_are_compact(tools: dict[str, Tool]) -> None:
    for tool in tools.values():
        parameters = tool.schema.parameters
        assert parameters["additionalProperties"] is False
        assert "$defs" not in parameters
        for part in (parameters, *parameters["properties"].values()):
            assert "title" not in part
            assert "anyOf" not in part


async def test_a_null_stands_for_not_given(run: Run, work: Path) -> None:
    (work / "x").write_text("a\n")
    assert (await run("read_file", path="x", offset=None, limit=None)).output == "1\ta"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit_file", {"path": "x", "old_string": "a", "new_string": "b"}),
        ("write_file", {"path": "x", "content": "b\n"}),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch"}),
    ],
)
async def test_a_write_goes_on_to_its_end_when_who_waits_for_it_is_cancelled(
    tools: dict[str, Tool], context: ToolContext, work: Path, name: str, arguments: dict[str, str]
) -> None:
    (work / "x").write_text("a\n")
    write = asyncio.ensure_future(tools[name].run(json.dumps(arguments), context))
    waiting = asyncio.ensure_future(asyncio.wait([write]))
    await asyncio.sleep(0)
    waiting.cancel()
    outcome = await write
    assert waiting.cancelled()
    assert (work / "x").read_text() == "b\n"
    assert outcome.observations[0].hash == workspace.hash_file(work / "x")

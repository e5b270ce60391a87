"""`/export`: what is written where, and what is said of it."""

import json
from pathlib import Path

import pytest

from fakes.commands import FakeContext, run
from fakes.exports import small
from fakes.live_session import live_session
from fakes.openai_rules import chat_complaint
from pinfold.commands.arguments import CommandError
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item

NAME = "why-is-config-read-twice-0197f3a2-7c10"
KEY = "gh" + "p_" + "aB3dE5fG7hJ9kLmN1pQ2" + "aB3dE5fG7hJ9kLmN"


@pytest.fixture
def context(tmp_path: Path) -> FakeContext:
    session = live_session(gauge=None, cwd=tmp_path)
    for event in small():
        session.append(event.item if isinstance(event, ItemAdded) else event)
    return FakeContext(session)


@pytest.mark.parametrize(
    ("argument", "name", "begins"),
    [
        ("", f"{NAME}.md", "# Why is \\<config>"),
        ("html", f"{NAME}.html", "<!DOCTYPE html>"),
        ("messages", f"{NAME}.json", "{"),
        ("a.html", "a.html", "<!DOCTYPE html>"),
        ("md a.txt", "a.txt", "# Why"),
        ('"a b.md"', "a b.md", "# Why"),
        ("--window md", f"{NAME}.md", "# Why"),
    ],
)
async def test_the_format_and_the_file_are_told_from_little(
    context: FakeContext, argument: str, name: str, begins: str, tmp_path: Path
) -> None:
    await run(context, f"/export {argument}")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text().startswith(begins)
    assert context.told == [f"Exported to {tmp_path / name}: no secrets found."]


async def test_a_folder_gets_a_file_of_its_own_name(context: FakeContext, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    await run(context, "/export md out")
    assert (tmp_path / "out" / f"{NAME}.md").is_file()


async def test_nothing_is_overwritten(context: FakeContext, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("mine")
    with pytest.raises(CommandError, match=r"a\.md exists already"):
        await run(context, "/export a.md")
    assert (tmp_path / "a.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("pdf a.pdf", "There is no format “pdf”. Formats: md, html, messages, codex, jsonl"),
        ("a.pdf", "has no known extension"),
        ("a b c", "quote a path"),
        ("'a", "No closing quotation"),
        ("--secrets", "unrecognized arguments: --secrets"),
        ("--all --window", "not allowed with argument --all"),
        ("jsonl --window", "always whole"),
        ("nowhere/a.md", "could not be written"),
    ],
)
async def test_what_can_not_be_is_said(
    context: FakeContext, argument: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=why):
        await run(context, f"/export {argument}")
    assert not list(tmp_path.iterdir())


async def test_secrets_are_replaced_unless_the_user_wants_them(
    context: FakeContext, tmp_path: Path
) -> None:
    context.session.append(Item(n=20, kind="user", content=f"use {KEY}, {KEY}"))
    await run(context, "/export a.md")
    assert KEY not in (tmp_path / "a.md").read_text()
    assert context.told[0].endswith("a.md: 1 secret replaced.")
    await run(context, "/export b.md --no-redact")
    assert (tmp_path / "b.md").read_text().count(KEY) == 2
    assert context.told[1].endswith("b.md: secrets were not removed.")


async def test_messages_hold_the_window_unless_all_is_wanted(
    context: FakeContext, tmp_path: Path
) -> None:
    await run(context, "/export window.json")
    await run(context, "/export all.json --all")
    short, long = (
        json.loads((tmp_path / f"{name}.json").read_text())["messages"]
        for name in ("window", "all")
    )
    assert chat_complaint(short) is None
    assert chat_complaint(long) is None
    assert "Then mend it." in str(long)
    assert "Then mend it." not in str(short)


async def test_the_rollout_is_copied_line_for_line(context: FakeContext, tmp_path: Path) -> None:
    context.session.append(Item(n=20, kind="user", content=f"with {KEY}"))
    journal = context.session.record.journal
    await run(context, "/export raw.jsonl --no-redact")
    assert (tmp_path / "raw.jsonl").read_bytes() == journal.path.read_bytes()
    await run(context, "/export clean.jsonl")
    expected = journal.path.read_text().replace(KEY, "[secret: GitHub Token 1]")
    assert (tmp_path / "clean.jsonl").read_text() == expected

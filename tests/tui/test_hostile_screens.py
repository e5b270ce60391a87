"""Whatever stands on the screen, wherever it comes from, drives no terminal and deceives nobody."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from fakes.compactions import working
from fakes.host import FakeHost, FakeTexts, Foreign, Line
from fakes.hostile import NAME, TEXT, WRITABLE, hostile_data, leaks, session_data, session_folder
from fakes.live_session import LiveSession, live_session
from fakes.screen import CONFIG, make_app, until
from fakes.windows import IMAGE
from pinfold.agent.updates import (
    CompactionProgress,
    Retrying,
    Streamed,
    Told,
    ToolOutput,
    ToolStarted,
)
from pinfold.catalog.catalog import LastExchange
from pinfold.ports.approver import Question
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo, ReasoningDelta, TextDelta
from pinfold.ports.tool import Review
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.tui.approval.card import ApprovalCard
from pinfold.tui.panels.item import ItemPanel
from pinfold.tui.panels.preview import PreviewPanel
from pinfold.tui.prompt.editor import Editor

_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_LINK = re.compile(r"\x1b\]8;(?:id=[\w-]*)?;([^\x1b\x07]*)\x1b\\")


class Host(FakeHost):
    def doctor(self) -> str:
        return f"model {TEXT}"


def host() -> Host:
    line = Line("0197f3a2-other", TEXT, cwd=TEXT, model=TEXT, note=TEXT)
    said = FakeTexts({line.id: LastExchange(TEXT, f"the needle {TEXT}")})
    foreign = Foreign(Path(NAME), TEXT, tool=TEXT, cwd=TEXT, model=TEXT, note=TEXT)
    return Host(lines=[line], texts=said, foreign=[foreign])


def session(folder: Path) -> LiveSession:
    """A session every text of which is hostile."""
    made = live_session(
        cwd=folder,
        gauge=None,
        notices=(TEXT,),
        left_at=TEXT,
        choice_note=TEXT,
        model=ModelInfo(TEXT, TEXT, 16_000, "table", max_output=2_000),
    )
    for data in [*session_data(), *working(12, first=10)]:
        event = hostile_data(data)
        made.append(event.item if isinstance(event, ItemAdded) else event)
    made.append(Item(n=200, kind="user", content=TEXT, images=(IMAGE,)))
    made.append(
        Item(
            n=201,
            kind="assistant",
            content=f"# {TEXT}\n[x](http://{TEXT}) `{TEXT}`\n\n|{TEXT}|\n|-|\n|{TEXT}|\n\n```{TEXT}\n{TEXT}\n```\n<http://a/{TEXT}>\n\n[y](http://a/&#x202e;&#27;]52;)",
        )
    )
    return made


def drawn(pilot: Pilot[str]) -> str:
    """The bytes of the whole screen, without colours."""
    strips = pilot.app.screen._compositor.render_strips()
    text = "\n".join(strip.render(pilot.app.console) for strip in strips)
    assert len(text.split("\n")) == len(strips), "a line breaks within"
    assert "\t" not in text
    text = _LINK.sub(lambda match: match[1], text)
    return _COLOURS.sub("", text)


def check(pilot: Pilot[str]) -> None:
    text = drawn(pilot)
    assert leaks(text) == set()
    assert pilot.app._exception is None


@asynccontextmanager
async def running(tmp_path: Path) -> AsyncIterator[tuple[Pilot[str], LiveSession]]:
    folder = tmp_path / NAME
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_bytes(f"ref: refs/heads/{WRITABLE}\n".encode())
    (folder / f"{NAME}.py").touch()
    themes = tmp_path / "themes"
    themes.mkdir()
    (themes / f"{NAME}.toml").write_text("broken")
    made = session(folder)
    made.folder = session_folder(tmp_path)
    app = make_app(
        made,
        host=host(),
        config=CONFIG,
        cwd=folder,
        theme=TEXT,
        theme_folder=themes,
        keys={TEXT: TEXT},
        warnings=(TEXT,),
    )
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: made.approver)
        yield pilot, made


async def test_the_transcript_and_the_lines_below_it(tmp_path: Path) -> None:
    async with running(tmp_path) as (pilot, _):
        check(pilot)
        assert "␛]52;c" in drawn(pilot)
        for _ in range(12):
            await pilot.press("pageup")
            check(pilot)


async def test_what_comes_while_a_turn_runs(tmp_path: Path) -> None:
    async with running(tmp_path) as (pilot, made):
        made.enter("streaming")
        made.send(TEXT)
        updates = [
            Streamed(ReasoningDelta(TEXT)),
            Streamed(TextDelta(f"{TEXT}\n\n```{TEXT}\n{TEXT}")),
            ToolStarted("c9", TEXT, TEXT),
            ToolOutput("c9", TEXT),
            Retrying(TEXT, 1, 9.0, 7, 9.0),
            CompactionProgress(TEXT, 0.5, TEXT),
            Told(TEXT, "info", TEXT),
            Told(TEXT, "warning"),
            Told(TEXT, "error"),
        ]
        for update in updates:
            made.tell(update)
            await pilot.pause()
            check(pilot)


REVIEWS = [
    Review("command", TEXT, command=f"echo {TEXT}", outside=TEXT),
    Review(
        "write",
        TEXT,
        (Path(NAME),),
        diff=f"--- a/{TEXT}\n+++ b/{TEXT}\n@@ -1 +1 @@\n-{TEXT}\n+{TEXT}",
    ),
    Review("read", TEXT, (Path(NAME),)),
]


async def test_the_card_that_asks(tmp_path: Path) -> None:
    async with running(tmp_path) as (pilot, made):
        for review in REVIEWS:
            made.ask(Question(f"c{TEXT}", TEXT, f'{{"a": "{TEXT}"}}', review, TEXT, prefix=TEXT))
            await until(pilot, lambda: pilot.app.screen.query(ApprovalCard))
            check(pilot)
            for key in ("e", "escape", "f", "n"):
                await pilot.press(key)
                check(pilot)
            await pilot.press("enter")
            await until(pilot, lambda: not pilot.app.screen.query(ApprovalCard))


PANELS = [
    ["help", "palette", "themes"],
    ["context", "checkpoint", "lost"],
    ["core", "eval", "history"],
    # Enter leads to another session.
    ["sessions"],
    ["adoptable"],
    ["rewind"],
]


@pytest.mark.parametrize("panels", PANELS, ids=" ".join)
async def test_panels(tmp_path: Path, panels: list[str]) -> None:
    async with running(tmp_path) as (pilot, _):
        shell = pilot.app.screen
        for panel in panels:
            pilot.app.open(panel, "1" if panel == "lost" else "")  # type: ignore[attr-defined]
            await until(pilot, lambda: pilot.app.screen is not shell)
            check(pilot)
            for key in ("down", "down", "enter", "pagedown", "end", "escape", "up", "tab"):
                await pilot.press(key)
                check(pilot)
            while pilot.app.screen is not shell:
                await pilot.press("escape")


async def test_the_preview(tmp_path: Path) -> None:
    async with running(tmp_path) as (pilot, made):
        made.compaction.summary = TEXT
        for key in ("c", "l", "1", "3", "enter"):
            panel = PreviewPanel(made, host().save_compact)
            pilot.app.push_screen(panel)
            await until(pilot, lambda panel=panel: pilot.app.screen is panel)
            await pilot.press(key)
            check(pilot)
            while panel in pilot.app.screen_stack:
                await pilot.press("escape")


async def test_every_item_in_full(tmp_path: Path) -> None:
    async with running(tmp_path) as (pilot, made):
        for item in made.items[:5]:
            await pilot.app.push_screen(ItemPanel(TEXT, item.content))
            check(pilot)
            await pilot.press("escape")


COMMANDS = [
    "doctor",
    "context",
    "history",
    "checkpoint",
    "model",
    "goal",
    f"goal {WRITABLE}",
    f"nosuch{NAME}",
    "find needle",
    f"export {NAME} x",
    "pin 1",
    "lost",
]


async def test_commands(tmp_path: Path) -> None:
    async with running(tmp_path) as (pilot, _):
        shell = pilot.app.screen
        for command in COMMANDS:
            shell.query_one(Editor).put(f"/{command}")
            await pilot.press("escape", "enter")
            check(pilot)
            while pilot.app.screen is not shell:
                await pilot.press("escape")
        await pilot.pause()
        check(pilot)


async def test_the_prompt(tmp_path: Path) -> None:
    async with running(tmp_path) as (pilot, _):
        editor = pilot.app.screen.query_one(Editor)
        for typed in ("@", "/", TEXT, f"!{TEXT}"):
            editor.put(typed[:-1])
            await pilot.press(typed[-1])
            check(pilot)
            await pilot.press("enter")
            check(pilot)
            editor.put("")


async def test_a_session_that_does_not_open(tmp_path: Path) -> None:
    async def start(_: object) -> LiveSession:
        raise ProviderError(TEXT)

    app = make_app(live_session())
    app._start = start  # type: ignore[assignment]
    async with app.run_test(size=(100, 40)) as pilot:
        await asyncio.wait_for(app._begun.wait(), 30)
        await pilot.pause()
        check(pilot)

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
from pinfold.agent.updates import Compacting, Retrying, Streamed, Told, ToolOutput, ToolStarted
from pinfold.catalog.catalog import LastExchange
from pinfold.ports.approver import Question
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo, ReasoningDelta, TextDelta
from pinfold.ports.tool import Review
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item
from pinfold.tui.panels.item import ItemPanel
from pinfold.tui.panels.preview import PreviewPanel

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
            Retrying(TEXT, 1, 9.0),
            Compacting(TEXT, 0.5, TEXT),
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


@pytest.mark.parametrize("review", REVIEWS, ids=range(len(REVIEWS)))
async def test_the_card_that_asks(tmp_path: Path, review: Review) -> None:
    async with running(tmp_path) as (pilot, made):
        made.ask(Question(f"c{TEXT}", TEXT, f'{{"a": "{TEXT}"}}', review, TEXT, prefix=TEXT))
        await pilot.pause()
        check(pilot)
        for key in ("e", "escape", "f", "n"):
            await pilot.press(key)
            check(pilot)


PANELS: list[tuple[str, str]] = [
    ("help", ""),
    ("palette", ""),
    ("themes", ""),
    ("sessions", ""),
    ("adoptable", ""),
    ("rewind", ""),
    ("context", ""),
    ("checkpoint", ""),
    ("history", ""),
    ("lost", "1"),
    ("core", ""),
    ("eval", ""),
]


@pytest.mark.parametrize(("panel", "search"), PANELS)
async def test_panels(tmp_path: Path, panel: str, search: str) -> None:
    async with running(tmp_path) as (pilot, _):
        before = pilot.app.screen
        pilot.app.open(panel, search)  # type: ignore[attr-defined]
        await until(pilot, lambda: pilot.app.screen is not before)
        check(pilot)
        for key in ("down", "down", "enter", "pagedown", "end", "escape", "up", "tab"):
            await pilot.press(key)
            await pilot.pause()
            check(pilot)


@pytest.mark.parametrize("key", ["c", "enter", "l", "1", "3"])
async def test_the_preview(tmp_path: Path, key: str) -> None:
    async with running(tmp_path) as (pilot, made):
        made.compaction.summary = TEXT
        panel = PreviewPanel(made, host().save_compact)
        pilot.app.push_screen(panel)
        await until(pilot, lambda: pilot.app.screen is panel)
        await pilot.press(key)
        await pilot.pause()
        check(pilot)


async def test_every_item_in_full(tmp_path: Path) -> None:
    async with running(tmp_path) as (pilot, made):
        for item in made.items[:5]:
            pilot.app.push_screen(ItemPanel(TEXT, item.content))
            await pilot.pause()
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


@pytest.mark.parametrize("command", COMMANDS, ids=range(len(COMMANDS)))
async def test_commands(tmp_path: Path, command: str) -> None:
    async with running(tmp_path) as (pilot, _):
        pilot.app.query_one("Editor").put(f"/{command}")  # type: ignore[attr-defined]
        await pilot.press("escape", "enter")
        await pilot.pause()
        check(pilot)


@pytest.mark.parametrize("typed", ["@", "/", TEXT, f"!{TEXT}"])
async def test_the_prompt(tmp_path: Path, typed: str) -> None:
    async with running(tmp_path) as (pilot, _):
        editor = pilot.app.query_one("Editor")
        editor.put(typed[:-1])  # type: ignore[attr-defined]
        await pilot.press(typed[-1])
        await pilot.pause()
        check(pilot)
        await pilot.press("enter")
        check(pilot)


async def test_a_session_that_does_not_open(tmp_path: Path) -> None:
    async def start(_: object) -> LiveSession:
        raise ProviderError(TEXT)

    app = make_app(live_session())
    app._start = start  # type: ignore[assignment]
    async with app.run_test(size=(100, 40)) as pilot:
        await asyncio.wait_for(app._begun.wait(), 30)
        await pilot.pause()
        check(pilot)

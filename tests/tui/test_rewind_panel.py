"""Rewinding with the keys: on real sessions in real folders, only the model is a script."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from fakes.agent import Stage, stage
from fakes.host import FakeHost
from fakes.provider import calls, says
from fakes.screen import CONFIG, until
from pinfold.agent.options import Options
from pinfold.agent.session import Session
from pinfold.ports.approver import Approver
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.store import SessionStore
from pinfold.tools.workspace import blob_hash
from pinfold.tui.app import PinfoldApp
from pinfold.tui.panels.rewind import RewindPanel
from pinfold.tui.panels.undo_files import UndoPanel
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.status_line import StatusLine


def write(path: str, content: str) -> tuple[str, str, str]:
    return f"w-{path}", "write_file", json.dumps({"path": path, "content": content})


class Forks(FakeHost):
    """A host that really rewinds."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        self.stages: list[Stage] = []

    async def rewind(  # type: ignore[override]
        self, folder: Path, prompt: int, approver: Approver
    ) -> Session:
        store = SessionStore(self.root / "home")
        clock = self.stages[0].clock
        on = await stage(self.root, [], journal=lambda: store.rewind(folder, prompt, clock.now))
        self.stages.append(on)
        return on.session


@asynccontextmanager
async def rewinding(root: Path, *prompts: str) -> AsyncIterator[tuple[Pilot[str], Forks]]:
    """A session whose every turn wrote a file that is named for it."""
    script = [
        turn
        for n, prompt in enumerate(prompts)
        for turn in ([calls(write(f"{n}.py", prompt))], [says("Done.")])
    ]
    host = Forks(root)
    on = await stage(
        root, [step for (step,) in script], options=Options(approvals="full", max_steps=9)
    )
    host.stages.append(on)
    for prompt in prompts:
        on.session.send(prompt)
        await on.session.idle()

    async def start(_: Approver) -> Session:
        return on.session

    app = PinfoldApp(start, host, CONFIG, monotonic=lambda: 0.0)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app._session is not None)
        yield pilot, host


def files(root: Path) -> Sequence[str]:
    return sorted(path.name for path in (root / "work").iterdir())


def editor(pilot: Pilot[str]) -> Editor:
    return pilot.app.screen_stack[0].query_one(Editor)


async def opened(pilot: Pilot[str], panel: type) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, panel))


async def test_escape_twice_goes_back_and_undoes_what_was_asked_for(tmp_path: Path) -> None:
    async with rewinding(tmp_path, "first", "second", "third") as (pilot, host):
        await pilot.press("escape")
        assert pilot.app.screen.query_one(StatusLine).hint == "Esc again opens /rewind"
        await pilot.press("escape")
        await opened(pilot, RewindPanel)
        await pilot.press("down", "enter")
        await opened(pilot, UndoPanel)
        await pilot.press("down", "enter")
        await until(pilot, lambda: editor(pilot).text == "second")
        assert files(tmp_path) == ["0.py"]
        old, fork = host.stages
        assert [item.content for item in fork.session.items if item.kind == "user"] == ["first"]
        assert len([item for item in old.session.items if item.kind == "user"]) == 3
        assert fork.session.draft().text in ("", "second")


async def test_a_number_goes_back_at_once_and_files_may_stay(tmp_path: Path) -> None:
    async with rewinding(tmp_path, "first", "second") as (pilot, host):
        n = [item.n for item in host.stages[0].session.items if item.kind == "user"][1]
        await pilot.press(*f"/rewind {n}", "enter")
        await opened(pilot, UndoPanel)
        await pilot.press("enter")
        await until(pilot, lambda: editor(pilot).text == "second")
        assert files(tmp_path) == ["0.py", "1.py"]
        assert (await host.stages[1].session.files.meanwhile()).changed == ()


async def test_escape_leaves_all_as_it_is(tmp_path: Path) -> None:
    async with rewinding(tmp_path, "first") as (pilot, host):
        await pilot.press(*"/rewind", "enter")
        await opened(pilot, RewindPanel)
        await pilot.press("enter")
        await opened(pilot, UndoPanel)
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        assert len(host.stages) == 1
        assert files(tmp_path) == ["0.py"]


async def test_what_something_else_changed_is_overwritten_only_if_forced(tmp_path: Path) -> None:
    async with rewinding(tmp_path, "first", "second") as (pilot, host):
        (tmp_path / "work/1.py").write_text("mine")
        await pilot.press("escape", "escape")
        await opened(pilot, RewindPanel)
        await pilot.press(*"first", "enter")
        await opened(pilot, UndoPanel)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: editor(pilot).text == "first")
        assert files(tmp_path) == []
        assert Blobs(host.stages[1].session.folder).read(blob_hash(b"mine")) == b"mine"


async def test_a_number_that_is_no_prompt_is_told(tmp_path: Path) -> None:
    async with rewinding(tmp_path, "first") as (pilot, host):
        await pilot.press(*"/rewind 2", "enter")
        await until(pilot, lambda: "not one of your prompts" in _seen(pilot))
        assert len(host.stages) == 1


def _seen(pilot: Pilot[str]) -> str:
    return pilot.app.export_screenshot().replace("&#160;", " ")

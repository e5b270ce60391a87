"""What importing costs, as fresh interpreters see it."""

import subprocess
import sys

CORE = """
import importlib, pkgutil, sys
import pinfold

rooms = "rollout", "ports", "tokens", "window", "checkpoint", "compaction", "wire"
names = [m.name for m in pkgutil.walk_packages(pinfold.__path__, "pinfold.", onerror=print)]
core = [name for name in names if name.split(".")[1] in rooms]
assert len(core) > len(rooms)
for name in core:
    importlib.import_module(name)
    loaded = {"textual", "rich", "httpx2"} & set(sys.modules)
    if loaded:
        sys.exit(f"{name} loads {loaded}")
"""

VERSION = """
import sys
from pinfold.__main__ import main

code = main(["--version"])
heavy = {"httpx2", "mcp", "pydantic", "rich", "sqlalchemy", "textual", "tiktoken"}
loaded = {"asyncio", *heavy} & set(sys.modules)
sys.exit(f"--version loads {loaded}" if loaded else code)
"""

PAINT = """
import asyncio, sys
from pathlib import Path

from pinfold import cli
from pinfold.wiring import actions, screen
from pinfold.host.app_context import app_context

app_context()
from pinfold.tui.app import PinfoldApp
from pinfold.tui.screen_config import ScreenConfig

loaded = set()


async def start(_):  # called when the screen has been painted
    loaded.update(sys.modules)
    raise OSError


async def paint():
    app = PinfoldApp(start, None, ScreenConfig(cwd=Path(), history=Path("history.jsonl")))
    async with app.run_test() as pilot:
        while not loaded:
            await pilot.pause()


asyncio.run(paint())
print("\\n".join(loaded))
"""
SCREEN = {
    *(
        "atomic_files",
        "cli",
        "commands",
        "numbers",
        "output",
        "paths",
        "sanitize",
        "settings",
        "settings_load",
        "small_files",
        "trust",
    ),
    *("host", "tui", "wiring"),
}
BELOW = {"rollout", "rollout.provenance"}
"""What else may be loaded: what a session is made of comes with the session."""
LATER = {
    *("argparse", "json", "httpx2", "pydantic", "sqlalchemy", "tiktoken"),
    *("pinfold.tui.bridge", "pinfold.tui.panels", "pinfold.tui.transcript.conversation"),
    *("pinfold.host.sessions", "pinfold.commands.failures"),
}


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_the_core_loads_no_screen_and_no_network() -> None:
    done = run(CORE)
    assert done.returncode == 0, done.stderr


def test_the_version_is_told_without_loading_anything_heavy() -> None:
    done = run(VERSION)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pinfold ")


def test_a_first_paint_loads_nothing_of_a_session() -> None:
    done = run(PAINT)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "pinfold.tui.shell" in loaded
    assert not loaded & LATER
    ours = {name.partition(".")[2] for name in loaded if name.startswith("pinfold.")}
    assert {name for name in ours if name.partition(".")[0] not in SCREEN} <= BELOW

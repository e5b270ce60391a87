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
    loaded = {"textual", "rich", "openai", "httpx", "httpx2"} & set(sys.modules)
    if loaded:
        sys.exit(f"{name} loads {loaded}")
"""

VERSION = """
import sys
from pinfold.__main__ import main

code = main(["--version"])
loaded = {"asyncio", "httpx", "httpx2", "openai", "pydantic", "rich", "textual", "tiktoken"}
loaded &= set(sys.modules)
sys.exit(f"--version loads {loaded}" if loaded else code)
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_the_core_loads_no_screen_no_sdk_and_no_network() -> None:
    done = run(CORE)
    assert done.returncode == 0, done.stderr


def test_the_version_is_told_without_loading_anything_heavy() -> None:
    done = run(VERSION)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pinfold ")

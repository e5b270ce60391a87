"""The real Codex goes on with an exported session."""

import asyncio
import base64
import json
import os
import shutil
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes.exports import WRITER, small, transcript
from fakes.openai_server import FakeOpenAI, Reply
from pinfold.export import codex
from pinfold.export.transcript import ExportedSession
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Image

PACKAGE = "@openai/codex@0.169.0"
CONFIG = """\
model = "scripted-1"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "{url}"
env_key = "FAKE_KEY"
wire_api = "responses"

[analytics]
enabled = false
"""


@pytest.fixture
async def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Codex: the one on PATH, else one that npm installs into a folder of its own."""
    if found := shutil.which("codex"):
        return found
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("neither codex nor npm is installed")
    folder = tmp_path_factory.mktemp("codex")
    installing = await asyncio.create_subprocess_exec(
        *(npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await installing.communicate()
    if installing.returncode:
        pytest.skip(f"npm could not install {PACKAGE}: {said.decode(errors='replace')[-200:]}")
    return str(folder / "node_modules" / ".bin" / "codex")


@pytest.mark.slow
async def test_codex_resumes_an_exported_session_whole(program: str, tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "codex"
    work.mkdir()
    shown = replace(exported_session(), cwd=str(work))
    rollout = home / "sessions" / "2026" / "01" / "01" / codex.file_name(shown)
    rollout.parent.mkdir(parents=True)
    rollout.write_text(codex.render(shown), encoding="utf-8")
    exported = rollout.read_text(encoding="utf-8")
    async with FakeOpenAI([Reply("All of it is here.")]) as server:
        (home / "config.toml").write_text(CONFIG.format(url=server.url))
        resuming = await asyncio.create_subprocess_exec(
            *(program, "exec", "resume", "--skip-git-repo-check"),
            *(codex.thread_id(shown), "Go on."),
            cwd=work,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "CODEX_HOME": str(home),
                "FAKE_KEY": "none",
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await resuming.communicate()
    assert resuming.returncode == 0, err.decode()
    (sent,) = server.bodies
    assert out.decode().strip() == "All of it is here."
    told = [pair for item in sent["input"] if (pair := said(item)) is not None]
    assert told[-1] == ("user", "Go on.")
    assert [value for value in told if value in window(shown)] == window(shown)
    # It writes on in the same file, and finds no turn there that it has to end.
    added = rollout.read_text(encoding="utf-8").removeprefix(exported)
    kinds = [json.loads(line)["payload"].get("type") for line in added.splitlines()]
    assert "task_complete" in kinds
    assert "turn_aborted" not in kinds


def exported_session() -> ExportedSession:
    """A session whose picture is one: Codex leaves out what it can't decode."""
    first, *rest = small()
    assert isinstance(first, ItemAdded)
    picture = Image("image/png", base64.b64encode(png()).decode(), 1, 1)
    first = ItemAdded(item=msgspec.structs.replace(first.item, images=(picture,)))
    return transcript([first, *rest], WRITER)


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
    )


def window(shown: ExportedSession) -> list[tuple[str, str]]:
    """What the model is to see of the exported window."""
    last = codex.render(shown).splitlines()[-1]
    items = json.loads(last)["payload"]["replacement_history"]
    return [pair for item in items if (pair := said(item)) is not None]


def said(item: dict[str, Any]) -> tuple[str, str] | None:
    match item:
        case {"type": "message", "role": role, "content": content}:
            return role, "".join(part.get("text") or part["image_url"] for part in content)
        case {"type": "function_call", "arguments": arguments, "call_id": call_id}:
            return call_id, arguments
        case {"type": "function_call_output", "output": output, "call_id": call_id}:
            return call_id, output
    return None

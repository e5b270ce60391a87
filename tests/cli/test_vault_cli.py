"""`pinfold vault`: what is kept is listed, found, digested, resumed, forgotten."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pinfold.host import vault
from pinfold.host.app_context import app_context
from pinfold.memories.eligible import eligible
from pinfold.rollout.codec import decode
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.journal import ROLLOUT
from pinfold.rollout.provenance import typed
from pinfold.rollout.store import SessionStore
from pinfold.settings import MemorySettings
from pinfold.vault.shelf import Shelf

ID = "11111111-2222-3333-4444-555555555555"
Say = Callable[..., str]


@pytest.fixture
def original(tmp_path: Path, home: Path) -> Path:
    file = tmp_path / f"claude/projects/-w/{ID}.jsonl"
    file.parent.mkdir(parents=True)
    said = [("user", "Where is the xylophone?"), ("assistant", "Beside the marmalade.")]
    records = [
        {
            "type": role,
            "uuid": f"u{n}",
            "parentUuid": f"u{n - 1}" if n else None,
            "sessionId": ID,
            "cwd": "/w",
            "timestamp": "2026-03-01T12:00:00Z",
            "message": {"role": role, "content": [{"type": "text", "text": text}]},
        }
        for n, (role, text) in enumerate(said)
    ]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def test_what_its_tool_has_deleted_is_found_digested_and_adopted(
    home: Path, original: Path, say: Say
) -> None:
    assert say("vault", "sync") == "Sessions: 1 new.\n"
    assert say("vault", "sync") == "Sessions: 1 unchanged.\n"
    assert len(say("adopt", "--no-open", "--json").splitlines()) == 1
    original.unlink()
    assert " gone " in say("vault", "list")
    (listed,) = say("vault", "list", "--json").splitlines()
    assert json.loads(listed)["title"] == "Where is the xylophone?"
    (hit,) = say("find", "--json", "marmalade").splitlines()
    assert (json.loads(hit)["kind"], json.loads(hit)["number"]) == ("vault", "#2")
    assert "Beside the marmalade." in say("digest", ID[:8])
    assert "marmalade" in say("export", "-f", "md", "-o", "-", ID[:8])
    assert len(say("adopt", "--no-open", "--json").splitlines()) == 1
    say("adopt", "--no-open", "xylophone")
    (folder,) = SessionStore(home).folders()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert list(eligible(SessionStore(home), MemorySettings(), tomorrow)) == []
    assert folder.name[:13] in say("find", "marmalade")


def test_a_sub_agents_transcript_is_found_under_its_session(
    home: Path, original: Path, say: Say
) -> None:
    agent = original.with_suffix("") / "subagents/agent-7.jsonl"
    agent.parent.mkdir(parents=True)
    lines = [json.loads(line) for line in original.read_text().splitlines()]
    lines[0]["message"]["content"][0]["text"] = "Look for the quince."
    aside = [json.dumps({**line, "isSidechain": True}) for line in lines]
    agent.write_text("\n".join(aside) + "\n")
    say("vault", "sync")
    original.unlink()
    agent.unlink()
    (line,) = say("find", "--json", "quince").splitlines()
    hit = json.loads(line)
    assert (hit["session"], hit["number"], hit["kind"]) == (ID, "a1#1", "vault")
    say("adopt", "--no-open", hit["path"])
    assert len(say("find", "--json", "quince").splitlines()) == 1
    (folder,) = SessionStore(home).folders()
    events = map(decode, (folder / ROLLOUT).read_bytes().splitlines())
    item = next(event.data.item for event in events if isinstance(event.data, ItemAdded))
    assert (item.kind, item.content, typed(item)) == ("user", "Look for the quince.", [])
    say("vault", "forget", "-y", ID)
    assert "vault" not in say("find", "--json", "quince")


def test_what_is_forgotten_is_gone_for_good(home: Path, original: Path, say: Say) -> None:
    say("vault", "sync")
    say("find", "xylophone")
    assert "use --yes" in say("vault", "forget", ID, code=2)
    assert f"Forgot session {ID}." in say("vault", "forget", "-y", ID[:6])
    stored = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert not [content for content in stored if b"xylophone" in content]
    assert say("vault", "sync") == "Sessions: 1 skipped: forgotten or too old.\n"
    assert "Nothing found." in say("find", "xylophone", code=1)
    assert "no session in the vault" in say("vault", "forget", ID, code=1)
    assert original.exists()


async def test_with_watch_the_vault_is_filled_while_pinfold_runs(
    home: Path, original: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault, "EVERY", 0)
    watching = asyncio.create_task(vault.watch(app_context()))
    shelf = Shelf(home)
    while not list(shelf.entries()):
        await asyncio.sleep(0)
    later = original.with_name("22222222-2222-3333-4444-555555555555.jsonl")
    later.write_text(original.read_text())
    while len(list(shelf.entries())) < 2:  # by a later sync
        await asyncio.sleep(0)
    watching.cancel()
    await asyncio.wait([watching])
    assert watching.cancelled()


def test_a_project_has_no_say_in_the_vault(tmp_path: Path, original: Path) -> None:
    (tmp_path / ".pinfold").mkdir()
    (tmp_path / ".pinfold/config.toml").write_text("[vault]\nwatch = true\nmax_gb = 0.001\n")
    (tmp_path / ".git").mkdir()
    loaded = app_context().loaded
    assert loaded.settings.vault.watch is False
    assert loaded.settings.vault.max_gb == 5
    assert "can only be set in your own config" in " ".join(loaded.warnings)

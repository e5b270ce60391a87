"""What a session's model knows of its agents after compactions."""

import asyncio
from pathlib import Path

import pytest

from fakes.agents import Cast, task, troupe
from fakes.provider import calls, says
from pinfold.ports.provider import ModelInfo

LARGE = ModelInfo("scripted-1", "scripted", 200_000, "config")


@pytest.mark.parametrize("strategy", ["checkpoint", "layered", "prune"])
async def test_it_knows_which_run_and_how_the_others_ended(tmp_path: Path, strategy: str) -> None:
    gate = asyncio.Event()
    parts = {
        "dig": [[gate, *says("Dug.")]],
        "look": [calls(("l", "list_dir", "{}")), says("Seen.")],
        "again": [says("Seen again.")],
    }
    script = [
        calls(task("c1", "dig", background=True), task("c2", "look", agent="explore")),
        says("ok"),
        calls(task("c3", "again")),
        says("ok"),
        calls(("c4", "recall", '{"id": "a2#3"}')),
        says("ok"),
        says("ok"),
    ]
    on = await troupe(tmp_path, script, parts, model=LARGE)
    await on.session.send("go. " * 400)
    await on.session.compact(strategy)
    await on.session.send("more. " * 400)
    await on.session.compact(strategy)
    await on.session.send("and now")
    sent = [item.content for item in on.provider.requests[4].items]
    assert sum("- a1: dig" in text for text in sent) == 1
    (listed,) = (text for text in sent if "ended before the window was compacted" in text)
    assert listed.startswith("These agents run in the background:\n- a1: dig\n")
    assert "- a2 explore, done, " in listed
    assert "- a3, done, " in listed
    recalled = on.provider.requests[5].items[-1]
    assert recalled.content.startswith("[Agent a2.]")
    # Told once: it is not repeated while the window has it.
    gate.set()
    await on.until(lambda: not on.session.children.running)
    await on.session.send("thanks")
    assert isinstance(on.provider, Cast)
    last = [item.content for item in on.provider.requests[6].items]
    assert sum("ended before the window was compacted" in text for text in last) == 1
    assert any(text.endswith("]\nDug.") for text in last)
    await on.session.close()

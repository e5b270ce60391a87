"""`/agents` and `/review`."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from fakes.agents import Cast, troupe
from fakes.provider import says
from pinfold.commands.agents import agents, review
from pinfold.commands.arguments import CommandError


async def test_review_runs_beside_the_session_and_can_be_listed_and_stopped(
    tmp_path: Path,
) -> None:
    on = await troupe(tmp_path, [says("ok")], {"uncommitted": [[asyncio.Event()]]})
    said: list[str] = []
    context = SimpleNamespace(session=on.session, tell=said.append)
    await agents(context)  # type: ignore[arg-type]
    await review(context)  # type: ignore[arg-type]
    assert isinstance(on.provider, Cast)
    await on.provider.asked("uncommitted")
    await agents(context)  # type: ignore[arg-type]
    assert said[0] == "No agent was started in this session."
    assert said[1].startswith("Agent a1 review reviews the working tree;")
    assert said[2].startswith("a1 review  review the working tree · 0s · ")
    await agents(context, ["stop", "1"])  # type: ignore[arg-type]
    await on.until(lambda: not on.session.children.running)
    await agents(context)  # type: ignore[arg-type]
    assert "interrupted: the user stopped it" in said[3]
    with pytest.raises(CommandError):
        await agents(context, ["7"])  # type: ignore[arg-type]
    await on.session.close()

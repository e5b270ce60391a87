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
    opened: list[tuple[object, ...]] = []
    context = SimpleNamespace(
        session=on.session,
        tell=said.append,
        open=lambda panel: opened.append((panel,)),
        show_agent=lambda *which: opened.append(which),
    )
    await agents(context, ["list"])  # type: ignore[arg-type]
    await review(context)  # type: ignore[arg-type]
    assert isinstance(on.provider, Cast)
    await on.provider.asked("uncommitted")
    await agents(context, ["list"])  # type: ignore[arg-type]
    for what in ([], ["1"], ["a1#3"]):
        await agents(context, what)  # type: ignore[arg-type]
    assert opened == [("agents",), (1, 0), (1, 3)]
    assert said[0] == "No agent was started in this session."
    assert said[1].startswith("Agent a1 review reviews the working tree;")
    assert said[2].startswith("a1 review  review the working tree · 0s · ")
    await agents(context, ["stop", "1"])  # type: ignore[arg-type]
    await on.until(lambda: not on.session.children.running)
    await agents(context, ["list"])  # type: ignore[arg-type]
    assert "interrupted: the user stopped it" in said[3]
    with pytest.raises(CommandError, match=r"There is no agent a7\. There are: a1\."):
        await agents(context, ["7"])  # type: ignore[arg-type]
    await on.session.close()

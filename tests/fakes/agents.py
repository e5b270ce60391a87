"""A session whose agents are sessions, too: parent and children share one scripted model, which
answers each by what its task says."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fakes.agent import MODEL, Stage, User
from fakes.provider import FakeClock, ScriptedProvider, Step
from pinfold.agent.builder import build
from pinfold.agent.children.built_in import BUILT_IN
from pinfold.agent.children.definition import Agent, Agents, Order, Worktrees
from pinfold.agent.options import Options
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.ports.approver import Approver, Decision, Question
from pinfold.ports.provider import Delta, ModelInfo, Request
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter
from pinfold.tools.registry import tools


class Cast(ScriptedProvider):
    """Answers a session by the script of the first key that its last prompt holds, else by its
    own."""

    def __init__(self, script: Sequence[list[Step]], parts: Mapping[str, list[list[Step]]]) -> None:
        super().__init__(script)
        self.parts = {key: ScriptedProvider(part) for key, part in parts.items()}

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        prompt = next(item for item in reversed(request.items) if item.kind == "user").content
        part = next((part for key, part in self.parts.items() if key in prompt), None)
        return super().stream(request) if part is None else part.stream(request)

    async def asked(self, *keys: str, least: int | None = None) -> None:
        """Wait until so many of these parts have been asked; without a number, all of them."""
        async with asyncio.timeout(30):
            while sum(bool(self.parts[key].requests) for key in keys) < (least or len(keys)):
                await asyncio.sleep(0)


def task(call_id: str, prompt: str, **more: Any) -> tuple[str, str, str]:
    return (call_id, "task", json.dumps({"description": prompt, "prompt": prompt, **more}))


async def troupe(
    root: Path,
    script: Sequence[list[Step]],
    parts: Mapping[str, list[list[Step]]],
    *answers: Decision,
    options: Options | None = None,
    journal: Journal | None = None,
    model: ModelInfo = MODEL,
    shown: bool = False,
    user: User | None = None,
    agents: Mapping[str, Agent] = BUILT_IN,
    opening: Callable[[], object] = lambda: None,
    worktrees: Worktrees | None = None,
) -> Stage:
    """A session in `root/work` that may start agents; where it is `shown`, the app's user answers
    (`Session.approver`, which `make_app` sets). `opening` is what happens while one is opened."""
    clock, user, provider = FakeClock(), user or User(list(answers)), Cast(script, parts)
    work, home = root / "work", root / "home"
    work.mkdir(exist_ok=True)
    given = options or Options()
    common = {
        "counter": Counter("none"),
        "user_folder": root / "config",
        "learned_windows": LearnedWindows(home),
    }

    async def ask(question: Question) -> Decision:
        approver: Approver = session.approver  # type: ignore[attr-defined]
        return await approver(question)

    async def connect(name: str) -> Connection:
        return Connection(provider, model, "chat", name)

    made = partial(build, connect=connect, **common)  # type: ignore[arg-type]

    async def open_agent(order: Order) -> Session:
        names = order.agent.tools
        opening()
        return await made(
            await asyncio.to_thread(order.journal),
            order.cwd or work.resolve(),
            order.connection,
            [tool for tool in tools() if names is None or tool.schema.name in names],
            order.approver,
            clock,
            order.bind(given),
        )

    session = await made(
        journal or SessionStore(home).create(work.resolve(), "test", clock.now),
        work.resolve(),
        Connection(provider, model, "chat", "scripted"),
        tools(),
        ask if shown else user,
        clock,
        replace(given, agents=Agents(open_agent, agents, worktrees=worktrees)),
    )
    session.approver = None  # type: ignore[attr-defined]
    heard: list[Any] = []
    session.subscribe(heard.append)
    return Stage(session, provider, user, clock, heard)

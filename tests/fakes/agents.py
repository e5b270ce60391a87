"""A session whose agents are sessions, too: parent and children share one scripted model, which
answers each by what its task says."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fakes.agent import MODEL, Stage, User
from fakes.live_session import LiveSession, live_session
from fakes.provider import FakeClock, ScriptedProvider, Step
from fakes.quick_shell import quick_tools
from pinfold.agent.builder import build
from pinfold.agent.children.built_in import BUILT_IN
from pinfold.agent.children.child import Child
from pinfold.agent.children.definition import Agent, Agents, Order, Worktrees, no_agents
from pinfold.agent.children.race_folders import RaceFolders
from pinfold.agent.options import Options
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.ports.approver import Approver, Decision, Question
from pinfold.ports.provider import Delta, ModelInfo, Request
from pinfold.ports.tool import Review
from pinfold.rollout.events import ChildFinished, ChildStarted
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.rollout.values import Usage
from pinfold.tokens.counter import Counter
from pinfold.tokens.prices import Price


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
    races: RaceFolders | None = None,
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
            [tool for tool in quick_tools() if names is None or tool.schema.name in names],
            order.approver,
            clock,
            given,
            order=order,
        )

    session = await made(
        journal or SessionStore(home).create(work.resolve(), "test", clock.now),
        work.resolve(),
        Connection(provider, model, "chat", "scripted"),
        quick_tools(),
        ask if shown else user,
        clock,
        given,
        agents=Agents(open_agent, agents, worktrees=worktrees, races=races),
    )
    session.approver = None  # type: ignore[attr-defined]
    heard: list[Any] = []
    session.subscribe(heard.append)
    return Stage(session, provider, user, clock, heard, root)


def four_agents() -> LiveSession:
    """A session whose reply has started four: one searches (its own session is there, too), one
    asks for the user's word, one has ended well, one has failed."""
    agents = Agents(no_agents, BUILT_IN)
    options = Options(prices={MODEL.name: Price(1.25, 10.0)})
    parent = live_session(options=options, agents=agents)
    described = [
        ("explore", "find every caller of parse() and say which of them handle errors"),
        ("", "write the migration"),
        ("review", "review the tests of the parser"),
        ("docs", "bring the manual up to date"),
    ]
    parent.append(Item(n=1, kind="user", content="Have four agents look into the parser.", turn=1))
    parent.append(Item(n=2, kind="assistant", content="Four agents, side by side.", turn=1))
    for number, (agent, text) in enumerate(described, 1):
        arguments = json.dumps({"description": text, "prompt": text, "agent": agent})
        call = {"kind": "tool_call", "name": "task", "call_id": f"c{number}", "turn": 1}
        parent.append(Item(n=2 + number, content=arguments, **call))  # type: ignore[arg-type]
        started = ChildStarted(
            child=number, session=f"s{number}", agent=agent, description=text, call_id=f"c{number}"
        )
        parent.append(started)
        child = parent.children._children[number] = Child(started, 0.0, text)
        usage = Usage(input=9_000 * number, output=700 * number)
        child.spend.add(MODEL.provider, MODEL.name, usage)
        child.items, child.line = 8, "$ grep -rn 'parse(' src"
    explores, asks = (parent.children._children[n] for n in (1, 2))
    explores.session, asks.session = _explorer(), live_session()
    asks.session.record.enter("approval")
    asks.line = "create db/migrations/0007_seed.py"
    for number, state, reason in ((3, "done", ""), (4, "failed", "The model is down.")):
        ended = parent.children._children[number]
        ended.answer = "Two tests look at errors; none at an empty file.\n" if not reason else ""
        ended.finished = ChildFinished(
            child=number,
            state=state,  # type: ignore[arg-type]
            reason=reason,
            items=14,
            models=dict(ended.spend.models),
            files=("tests/test_parse.py", "tests/data/empty.txt") if not reason else (),
            seconds=64.0 * (number - 2),
        )
        parent.append(ended.finished)
    return parent


def _explorer() -> LiveSession:
    found = "src/main.py:12: parse(text)\nsrc/load.py:40: parse(line)\n"
    call = {"name": "grep", "call_id": "g1", "turn": 1}
    arguments = '{"pattern": "parse(", "path": "src"}'
    return live_session(
        items=[
            Item(n=1, kind="user", content="Find every caller of parse().", turn=1),
            Item(n=2, kind="tool_call", content=arguments, **call),  # type: ignore[arg-type]
            Item(n=3, kind="tool_result", content=found, **call),  # type: ignore[arg-type]
            Item(n=4, kind="assistant", content="Two callers so far; I look at each.", turn=1),
        ]
    )


WRITES = Question(
    call_id="w1",
    tool="write_file",
    arguments="{}",
    review=Review("write", "create db/migrations/0007_seed.py", diff="@@ -0,0 +1 @@\n+SEED = 7\n"),
    reason="writes a file",
    agent="a2",
    edits=True,
)

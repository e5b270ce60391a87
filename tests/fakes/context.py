"""A small window of every kind, for the context panel."""

from collections.abc import Iterator

from fakes.live_session import LiveSession, live_session
from fakes.windows import IMAGE
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import AgentsFile, Context, ToolSchema
from pinfold.rollout.events import ArtifactObserved, ContextSet
from pinfold.rollout.items import Item

SMALL = ModelInfo("small", "p", 4_000, "table", max_output=400)
CONTEXT = Context(
    instructions="You are pinfold.",
    agents=(AgentsFile("/repo/AGENTS.md", "Use tabs.\nTest first."),),
    environment="cwd: /repo",
    tools=(ToolSchema("shell", "Runs a command.", {"type": "object"}),),
)


def window() -> Iterator[Item]:
    """Two reads and a command, each with its result, between a request and two replies."""
    yield Item(n=1, kind="user", content="Why is the config read twice?")
    yield from _call(2, "read_file", '{"path": "src/config.py"}', "line of code\n" * 40)
    yield from _call(4, "read_file", '{"path": "docs/config.md"}', "words of prose\n" * 20)
    yield from _call(6, "shell", '{"command": "pytest"}', "passed\n" * 60)
    yield Item(n=8, kind="assistant", content="It reads the file once for each key.", response=9)
    yield Item(n=9, kind="user", content="Then fix it.", images=(IMAGE,))


def _call(n: int, name: str, arguments: str, output: str) -> tuple[Item, Item]:
    call = Item(n=n, kind="tool_call", name=name, call_id="c", content=arguments, response=n)
    result = Item(n=n + 1, kind="tool_result", name=name, call_id="c", content=output, response=n)
    return call, result


def make_session(model: ModelInfo | None = None) -> LiveSession:
    session = live_session(gauge=None, items=tuple(window()))
    session.model = model or session.model
    session.append(ContextSet(hash="h", context=CONTEXT))
    for n, path in ((3, "src/config.py"), (5, "docs/config.md")):
        session.append(ArtifactObserved(uri=path, kind="file", op="read", item=n))
    return session

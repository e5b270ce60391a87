"""Scripted MCP servers: tests say how they stand, what they offer, and what calls return."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from pinfold.ports.servers import Ask, ServerState, ServerTool, TrustQuestion
from pinfold.ports.tool import ToolError, ToolOutcome


def server_tool(server: str, name: str, about: str = "", **more: Any) -> ServerTool:
    schema = more.pop("schema", {"type": "object", "properties": {"path": {"type": "string"}}})
    mark = sha256(repr((name, about, schema, sorted(more.items()))).encode()).hexdigest()[:12]
    return ServerTool(server, name, "", about or f"Does {name}.", schema, hash=mark, **more)


def ready(name: str, *tools: ServerTool, **more: Any) -> ServerState:
    """A server whose texts are approved."""
    mark = sha256(repr(([tool.hash for tool in tools], more)).encode()).hexdigest()[:12]
    given: dict[str, Any] = {"state": "ready", "approved": True, "hash": mark, **more}
    return ServerState(name, tools=tools, **given)


class FakeServers:
    """`ports.servers.Servers`. A server that is not started yet is what was `known` of it."""

    def __init__(self, *states: ServerState, known: Sequence[ServerState] = ()) -> None:
        self.states = {state.name: state for state in states}
        self._known = {state.name: state for state in known}
        self._listeners: list[Callable[[str], None]] = []
        self.calls: list[tuple[str, str, Mapping[str, Any]]] = []
        self.answers: list[tuple[str, bool]] = []
        self.done: list[str] = []
        """What else was asked of it: `start git`."""
        self.outcomes: dict[str, ToolOutcome | Exception | Callable[..., Any]] = {}
        """What calls of tools come to, by name."""
        self.resources: dict[str, ToolOutcome] = {}
        self.prompts: dict[str, ToolOutcome] = {}
        self.closed = False

    def names(self) -> Sequence[str]:
        return list(self.states)

    def state(self, name: str) -> ServerState:
        return self.states[name]

    def known(self, name: str) -> ServerState | None:
        return self._known.get(name)

    def on_change(self, callback: Callable[[str], None]) -> Callable[[], None]:
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    def become(self, state: ServerState) -> None:
        """It stands so from now on."""
        self.states[state.name] = state
        for listener in tuple(self._listeners):
            listener(state.name)

    def change(self, name: str, **fields: Any) -> None:
        self.become(replace(self.states[name], **fields))

    async def start(self, name: str) -> None:
        self.done.append(f"start {name}")

    async def restart(self, name: str) -> None:
        self.done.append(f"restart {name}")

    async def stop(self, name: str) -> None:
        self.done.append(f"stop {name}")

    async def answer(self, name: str, *, yes: bool) -> None:
        self.answers.append((name, yes))
        self.change(name, question=None, approved=yes, state="ready" if yes else "stopped")

    async def remember_refused(self, name: str, tools: Sequence[str]) -> None:
        self.change(name, unsendable=(*self.states[name].unsendable, *tools))

    async def sign_in(self, name: str, show: Callable[[str], None]) -> str:
        self.done.append(f"sign in {name}")
        show("https://sign.in/here")
        return "in a file"

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        on_progress: Callable[[str], None],
        ask: Ask | None = None,
    ) -> ToolOutcome:
        self.calls.append((server, tool, arguments))
        await asyncio.sleep(0)
        outcome = self.outcomes.get(tool, ToolOutcome(f"{tool} ran."))
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, ToolOutcome):
            return outcome
        made: ToolOutcome = await outcome(arguments, on_progress, ask)
        return made

    async def read_resource(self, server: str, uri: str) -> ToolOutcome:
        self.done.append(f"read {server}:{uri}")
        if uri not in self.resources:
            raise ToolError(f"{server} has no resource {uri}.")
        return self.resources[uri]

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ToolOutcome:
        self.done.append(f"prompt {server}:{name} {dict(arguments)}")
        if name not in self.prompts:
            raise ToolError(f"{server} has no prompt {name}.")
        return self.prompts[name]

    def apart(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def aclose(self) -> None:
        self.closed = True


def asks(name: str, about: Any = "start", text: str = "", diff: str = "") -> ServerState:
    """A server that waits for the user."""
    titles = {
        "start": f'Start the server "{name}" of this project?',
        "texts": f'Let the model read what the server "{name}" says?',
    }
    question = TrustQuestion(name, about, titles[about], text or "command: x", diff)
    return ServerState(name, "waiting", source="project", question=question)

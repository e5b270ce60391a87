"""The `task` tool: an agent does a part of the work in a session of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, StringConstraints

from pinfold.agent.children.child import Child
from pinfold.agent.children.children import Children
from pinfold.agent.children.definition import Agent
from pinfold.agent.children.reply import ChildReply
from pinfold.agent.record import Record
from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.rollout.context import ToolSchema
from pinfold.rollout.events import ChildStarted
from pinfold.tools.arguments import Arguments, parse, schema, title_line
from pinfold.tools.output import keep


class TaskArguments(Arguments):
    also: ClassVar = {
        "subagent_type": "agent",
        "agent_type": "agent",
        "run_in_background": "background",
        "isolation": "worktree",
    }

    description: Annotated[str, StringConstraints(strip_whitespace=True)]
    prompt: str
    agent: str = ""
    background: bool = False
    fork_turns: Literal["none", "all", "compacted"] = "none"
    worktree: Annotated[bool, BeforeValidator(lambda given: given == "worktree" or given)] = False


DESCRIPTION = 160
"""Characters of an agent's description that the model is told."""
DESCRIPTIONS = 2_400
"""The same of all of them; of the agents after that it is told the names."""


def schema_of(agents: Iterable[Agent]) -> ToolSchema:
    """The tool as the model is told of it."""
    lines: list[str] = []
    left = DESCRIPTIONS
    for agent in agents:
        said = title_line(agent.description, DESCRIPTION)
        left -= len(said)
        lines.append(f"{agent.name}: {said}" if said and left >= 0 else agent.name)
    known = "; ".join(lines)
    return schema(
        "task",
        "An agent does part of the work; calls in one reply run at once. You get its last "
        "message. It knows only the prompt, with fork_turns this conversation; worktree: its own. "
        f"agent: empty or {known}",
        TaskArguments,
    )


class Task(Tool):
    kind: ToolKind = "agent"
    read_only = True
    parallel = True
    in_order = True

    def __init__(self, record: Record, children: Children) -> None:
        self._record = record
        self._children = children
        self.schema = schema_of(children.agents.values())

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        given = parse(TaskArguments, arguments)
        if not given.prompt.strip():
            raise ToolError("The prompt is empty: say what the agent is to do.")
        who = f"{title_line(given.agent)}: " if given.agent else ""
        return Review("read", f"task {who}{title_line(given.description)}")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:
        given = parse(TaskArguments, arguments)
        started = ChildStarted(
            child=0,
            session="",
            agent=given.agent,
            description=given.description,
            call_id=context.call_id,
            background=given.background,
        )
        child = await self._children.start(
            started,
            given.prompt,
            fork=given.fork_turns,
            at=self._before(),
            worktree=given.worktree,
        )
        if given.background:
            text = f"[agent {child.name} has started; you are told when it has ended]"
            return ToolOutcome(text, detail=_detail(child) | {"host": [[0, len(text)]]})
        reply = await self._children.result(child)
        return await _outcome(child, reply, context)

    def _before(self) -> int | None:
        """The last item before the response whose calls run."""
        response = self._record.state.response
        numbers = (item.n for item in self._record.window.items if item.response == response)
        return min(numbers, default=1) - 1 or None


async def _outcome(child: Child, reply: ChildReply, context: ToolContext) -> ToolOutcome:
    assert child.finished is not None
    detail = _detail(child) | {"host": [[0, reply.head]], "changed": list(child.finished.files)}
    text = reply.text
    if reply.whole:
        try:
            path = await asyncio.to_thread(keep, context.folder, context.call_id, reply.whole)
            detail["spill"] = str(path)
            text += f"\n[The whole reply is in {path}.]"
        except OSError as error:
            text += f"\n[The whole reply could not be kept: {error.strerror}.]"
    return ToolOutcome(text, child.finished.state == "done", detail=detail)


def _detail(child: Child) -> dict[str, object]:
    return {"agent": child.number, "session": child.started.session}

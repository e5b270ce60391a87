"""`!command`: the user's own shell command, whose output enters the window."""

import asyncio
import json
from pathlib import Path

from pinfold.agent.calls.live import LiveOutput, headed
from pinfold.agent.calls.outputs import Outputs
from pinfold.agent.calls.results import observed
from pinfold.agent.record import Record
from pinfold.agent.updates import ToolStarted
from pinfold.ports.tool import Terminal, ToolContext, ToolOutcome
from pinfold.rollout.items import Item, State
from pinfold.rollout.journal import JournalError
from pinfold.tools.workspace import observe_command

TIMEOUT = 600
"""Seconds."""


async def run(
    record: Record, cwd: Path, outputs: Outputs, command: str, terminal: Terminal | None
) -> None:
    """Run it and journal what it prints, also where it is interrupted: then this is cancelled.

    Raises `ToolError`, `JournalError`.
    """
    from pinfold.tools.shell import ShellTool  # pydantic comes with it

    call_id = f"user-{record.state.last_n + 1}"
    live = LiveOutput(record, call_id)
    context = ToolContext(cwd, record.journal.folder, call_id, live.on_output, terminal=terminal)
    context = outputs.bounded(context)
    record.enter("tools")
    record.tell(ToolStarted(call_id, "shell", f"$ {command}"))
    try:
        arguments = json.dumps({"command": command, "timeout": TIMEOUT})
        outcome = await outputs.fitted(await ShellTool().run(arguments, context), context)
    except asyncio.CancelledError:
        text = live.text + "\n[interrupted by the user]"
        ran = observe_command(command, text)
        outcome = ToolOutcome(text, False, (ran,), {"command": command})
        await _journal(record, command, call_id, outcome, "interrupted")
        raise
    await _journal(record, command, call_id, outcome, "complete")


async def _journal(
    record: Record, command: str, call_id: str, outcome: ToolOutcome, state: State
) -> None:
    told = headed(outcome, f"The user ran `{command}`:\n")
    item = Item(
        n=0,
        kind="context",
        content=told.output,
        call_id=call_id,
        name="shell",
        state=state,
        detail={"ok": told.ok, "act": "said", "words": f"!{command}", **told.detail},
    )
    try:
        await record.put(item, lambda n: (observed(seen, n) for seen in outcome.observations))
    except JournalError as error:
        raise JournalError(
            f"The command ran, but its output could not be written. {error}"
        ) from error

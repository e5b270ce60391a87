"""The agent that consolidates: a separate session that has file tools only."""

from pathlib import Path

from pinfold import __version__, paths
from pinfold.agent.builder import build
from pinfold.agent.options import Options, PreparingOptions
from pinfold.agent.requests.connection import Connection
from pinfold.agent.requests.learned_windows import LearnedWindows
from pinfold.agent.session import Session
from pinfold.memories.places import prompt
from pinfold.ports.approver import Decision, Question
from pinfold.ports.clock import Clock
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import ModelInfo
from pinfold.ports.tool import Tool
from pinfold.rollout.journal import JournalError
from pinfold.rollout.store import SessionStore
from pinfold.tokens.counter import Counter

MAX_STEPS = 100
SMALL_WINDOW = 8_192
"""Tokens; a model with no more can't consolidate."""


class AgentFailed(Exception):
    """The agent did not finish, or wrote nothing usable; `str()` says why."""


def unable(model: ModelInfo) -> str:
    """Why a model can't consolidate; empty if it can."""
    if not model.tools:
        return f"{model.name} has no tools"
    if model.context_window <= SMALL_WINDOW:
        return f"the window of {model.name} has only {model.context_window:,} tokens"
    return ""


async def run(connection: Connection, folder: Path, home: Path, clock: Clock) -> None:
    """Let the agent consolidate the files in `folder`; its session is kept in `home`.

    It can read and write only there: everything else needs an approval, which is refused. Closes
    the connection. Raises `AgentFailed`, `JournalError`, `OSError`.
    """
    session = await _open(connection, folder, home, clock)
    try:
        ending = await session.send(prompt("consolidation"))
        if ending.state != "done":
            raise AgentFailed(ending.reason or f"its turn ended as {ending.state}")
    finally:
        await session.close()


def tools() -> list[Tool]:
    """The agent's tools: no commands, no network, no other agents."""
    from pinfold.tools.apply_patch import ApplyPatch
    from pinfold.tools.edit_file import EditFile
    from pinfold.tools.glob import Glob
    from pinfold.tools.grep import Grep
    from pinfold.tools.list_dir import ListDir
    from pinfold.tools.read_file import ReadFile
    from pinfold.tools.write_file import WriteFile

    return [ReadFile(), ListDir(), Glob(), Grep(), EditFile(), WriteFile(), ApplyPatch()]


async def _open(connection: Connection, folder: Path, home: Path, clock: Clock) -> Session:
    try:
        journal = SessionStore(home).create(folder, __version__, clock.now, "internal")
    except JournalError:
        await connection.provider.close()
        raise
    return await build(
        journal,
        folder,
        connection,
        tools(),
        _refuse_all,
        clock,
        Options(
            approvals="workspace",
            drift="off",
            attended=False,
            max_steps=MAX_STEPS,
            preparing=PreparingOptions(wanted=False),
        ),
        counter=Counter(connection.model.encoding, paths.cache_folder()),
        user_folder=folder,
        connect=_no_other,
        learned_windows=LearnedWindows(home),
    )


async def _refuse_all(question: Question) -> Decision:
    return Decision("policy", f"{question.reason}, and only this folder is open to you.")


async def _no_other(name: str) -> Connection:
    raise ProviderError(f"{name} is not available here.")

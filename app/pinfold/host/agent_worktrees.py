"""Git worktrees for the agents of a session."""

from dataclasses import dataclass
from pathlib import Path

from pinfold.host import worktrees
from pinfold.host.app_context import WrongUse
from pinfold.ports.tool import ToolError
from pinfold.tools.git import git


@dataclass(frozen=True, slots=True)
class AgentWorktrees:
    """Worktrees beside the repository of `folder`; a port of `agent.children.definition`."""

    folder: Path

    async def make(self, name: str) -> Path:
        try:
            path, _ = await worktrees.use(self.folder, name)
        except WrongUse as error:
            raise ToolError(str(error)) from error
        return path

    async def leave(self, name: str) -> str:
        try:
            made = await worktrees.worktrees(self.folder)
            path = next((one.path for one in made if one.name == name), None)
            if path is None:
                return ""
            if await git(self.folder, "rev-list", "-n", "1", f"pinfold/{name}", "--not", "HEAD"):
                return str(path)
            await worktrees.remove(self.folder, name)
        except WrongUse:  # it has changes
            return str(path) if path else ""
        return ""

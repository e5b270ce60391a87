"""The `skill` tool."""

import asyncio
from typing import ClassVar

from pinfold.closest import listed, shown, suggestion
from pinfold.ports.tool import Review, Tool, ToolContext, ToolError, ToolOutcome
from pinfold.rollout.acts import ToolKind
from pinfold.sanitize import one_line
from pinfold.skills.extension import Extension
from pinfold.skills.library import Library
from pinfold.skills.reader import LISTED, files
from pinfold.tools.arguments import Arguments, parse, schema

SKILL = "skill"
"""In the detail of a result, the name of the skill that was read."""


class SkillArguments(Arguments):
    also: ClassVar = {"skill": "name", "skill_name": "name", "command": "name", "args": ""}

    name: str


class SkillTool(Tool):
    """Offered only if there are skills."""

    schema = schema(
        "skill",
        "Read a skill: its instructions, its folder and the files there.",
        SkillArguments,
    )
    kind: ToolKind = "read"
    read_only = True
    parallel = True
    quiet = True
    pages = True

    def __init__(self, library: Library) -> None:
        self._library = library
        self._offered = False

    @property
    def offered(self) -> bool:
        """Once offered, it stays: without it the prompt cache would be lost."""
        self._offered = self._offered or bool(self._library.skills)
        return self._offered

    def review(self, arguments: str, context: ToolContext) -> Review:  # noqa: ARG002
        return Review("read", f"read {shown(parse(SkillArguments, arguments).name)}")

    async def run(self, arguments: str, context: ToolContext) -> ToolOutcome:  # noqa: ARG002
        name = parse(SkillArguments, arguments).name.strip()
        await asyncio.to_thread(self._library.refresh)
        found = self._usable(name)
        head, text = await asyncio.to_thread(page, found)
        detail = {SKILL: found.name, "host": [[0, len(head)]]}
        return ToolOutcome(head + text, detail=detail)

    def _usable(self, name: str) -> Extension:
        """Raises `ToolError`."""
        found = self._library.skill(name)
        if found is None:
            known = [one.name for one in self._library.skills]
            near = [one for one in known if name and name.casefold() in one.casefold()]
            which = f"; there are {listed(near)}" if near else suggestion(name, known)
            raise ToolError(f"There is no skill {shown(name)}{which}.")
        if found.state != "ready":
            raise ToolError(
                f"The skill {found.name} is the project's and waits for the user's approval: "
                "/skills shows it to them."
            )
        if found.manual:
            raise ToolError(
                f"The skill {found.name} can only be started by the user: /{found.name}."
            )
        return found


def page(skill: Extension) -> tuple[str, str]:
    """A note on a skill, and its text. Blocking."""
    folder = one_line(str(skill.folder))
    there = files(skill.folder)
    more = " and more" if len(there) > LISTED else ""
    lines = [
        f"[Skill {skill.name}, from {skill.shown}. Its folder is {folder}"
        + (f", with {', '.join(map(one_line, there[:LISTED]))}{more}." if there else ".")
        + " Its paths are relative to it; read_file reads them and shell runs them.]",
    ]
    return "\n".join(lines) + "\n\n", skill.body

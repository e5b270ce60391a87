"""What is before the window in every request."""

from typing import Any, Literal

from msgspec import Struct


class AgentsFile(Struct, frozen=True):
    """One AGENTS.md as it was read."""

    path: str
    text: str


class ToolSchema(Struct, frozen=True, omit_defaults=True):
    """A tool as the model is told of it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]
    hosted: str = ""
    """The type of a tool that the provider itself runs; no wire but Responses has one."""


class FrontMemories(Struct, frozen=True, omit_defaults=True):
    """What earlier sessions learned, as this one was told of it when it began."""

    text: str
    """Empty where there was nothing to tell."""
    folded: bool = False
    """Whether the user took it out of the requests."""


class FrontTool(Struct, frozen=True, omit_defaults=True):
    """A tool of an MCP server."""

    name: str
    """As the server knows it."""
    wire: str
    """As the model calls it."""
    hash: str = ""
    """Hash of its texts."""
    folded: str = ""
    """Why its schema is not in the requests; empty where it is, if its server is not folded."""


class FrontServer(Struct, frozen=True, omit_defaults=True):
    """An MCP server as described to the model. The schemas of its tools are among `tools`."""

    name: str
    hash: str = ""
    """Hash of all its texts."""
    tools: tuple[FrontTool, ...] = ()
    text: str = ""
    """What requests carry of it: the names of folded tools, its instructions."""
    folded: str = ""
    """Why none of its schemas is in the requests: `user`, `budget`, `new`, `stopped`."""
    open: bool = False
    """Whether the user unfolded it, so that no budget folds it."""


class SkillIndex(Struct, frozen=True, omit_defaults=True):
    """The skills as described to the model."""

    text: str
    """Their names and descriptions."""
    names: str
    """The shorter text sent while it is folded."""
    folded: Literal["", "user", "budget"] = ""
    """Who folded it."""
    open: bool = False
    """Whether the user unfolded it, so that no budget folds it."""

    @property
    def told(self) -> str:
        return self.names if self.folded else self.text


class Context(Struct, frozen=True, kw_only=True):
    """What is before the window in every request."""

    instructions: str = ""
    agents: tuple[AgentsFile, ...] = ()
    environment: str = ""
    tools: tuple[ToolSchema, ...] = ()
    memories: FrontMemories | None = None
    """None until it is decided, which is once in a session."""
    servers: tuple[FrontServer, ...] = ()
    """MCP servers, in the order of the settings."""
    skills: SkillIndex | None = None
    """None where there are none."""

    @property
    def remembered(self) -> str:
        """The memories that a request carries."""
        return "" if self.memories is None or self.memories.folded else self.memories.text

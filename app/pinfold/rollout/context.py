"""What is before the window in every request."""

from typing import Any

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


class Memories(Struct, frozen=True, omit_defaults=True):
    """What earlier sessions learned, as this one was told of it when it began."""

    text: str
    """Empty where there was nothing to tell."""
    folded: bool = False
    """Whether the user took it out of the requests."""


class Context(Struct, frozen=True, kw_only=True):
    """What is before the window in every request."""

    instructions: str = ""
    agents: tuple[AgentsFile, ...] = ()
    environment: str = ""
    tools: tuple[ToolSchema, ...] = ()
    memories: Memories | None = None
    """None until it is decided, which is once in a session."""

    @property
    def remembered(self) -> str:
        """The memories that a request carries."""
        return "" if self.memories is None or self.memories.folded else self.memories.text

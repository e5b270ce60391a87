"""The conversations that trials are made of, and the phrases of their languages: `*/*.toml`."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import Struct

By = Literal["user", "tool", "recorded"]
"""Where a fact comes from: the user says it, a tool's output shows it, the agent records it."""


Area = Literal["coding", "debugging", "review", "operations", "writing"]


class FactTemplate(Struct, frozen=True, forbid_unknown_fields=True):
    by: By
    label: str
    text: str


class Decisions(Struct, frozen=True, forbid_unknown_fields=True):
    """By who made them, in the order in which they come up."""

    user: tuple[str, ...]
    agent: tuple[str, ...]
    """Proposed by the agent; the user agrees."""
    recorded: tuple[str, ...]
    """Recorded by the agent with `memory_apply`."""


class Template(Struct, frozen=True, forbid_unknown_fields=True):
    """Sentences with slots for values (see `truth.Values`)."""

    name: str
    language: str
    area: Area
    folders: tuple[str, ...]
    ending: str
    goal: str
    constraints: tuple[str, ...]
    questions: tuple[str, ...]
    next: tuple[str, ...]
    """The next step in each stretch of the conversation."""
    decisions: Decisions
    facts: tuple[FactTemplate, ...]

    @property
    def title(self) -> str:
        return f"{self.name} ({self.language}, {self.area})"


class Chatter(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands between the things that matter."""

    last: tuple[str, ...]
    """The request that a compaction finds at the end."""
    asks: tuple[str, ...]
    replies: tuple[str, ...]
    prose: tuple[str, ...]
    """Sentences with slots for a word, a number and a smaller one."""
    words: tuple[str, ...]


class Language(Chatter, frozen=True, forbid_unknown_fields=True):
    """What is said in every conversation of that language."""

    agreed: tuple[str, ...]
    proposal: str
    open: str
    then: str
    then_user: str
    changed: tuple[str, ...]
    """Before a value that has changed."""
    config: str
    background: str


@cache
def templates() -> tuple[Template, ...]:
    """All templates, by name."""
    folder = files(__package__) / "templates"
    named = sorted((file.name.removesuffix(".toml"), file) for file in folder.iterdir())
    return tuple(
        msgspec.convert({"name": name, **tomllib.loads(file.read_text("utf-8"))}, Template)
        for name, file in named
    )


@cache
def language(name: str) -> Language:
    file = files(__package__) / "languages" / f"{name}.toml"
    return msgspec.convert(tomllib.loads(file.read_text("utf-8")), Language)

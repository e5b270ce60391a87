"""A skill or a command, as read from its file."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Literal

from msgspec import Struct

Kind = Literal["skill", "command"]
Source = Literal["user", "project", "prompts"]
"""`prompts` are Codex's, in `$CODEX_HOME/prompts`."""
State = Literal["ready", "untrusted", "new", "changed"]
"""Of a project's: the folder is not trusted, or its text is not the one that the user accepted."""


class Extension(Struct, frozen=True, kw_only=True):
    """A skill or a command. Its texts are safe to show."""

    kind: Kind
    name: str
    """`pdf`; a command in a sub-folder is `folder:name`, Codex's are `prompts:name`."""
    source: Source
    path: Path
    """Its file, resolved."""
    shown: str
    """The same for people."""
    body: str
    description: str = ""
    hint: str = ""
    """What its arguments are, as the file says it."""
    model: str = ""
    """The one that a command asks for."""
    tools: tuple[str, ...] = ()
    """Those that the file would have approved: shown, without effect."""
    manual: bool = False
    """Whether the model may not use it by itself."""
    files: tuple[str, ...] = ()
    """What is beside a project's skill, by paths below its folder; not all where there are many."""
    hash: str = ""
    """Of all that the user accepts with it."""
    notes: tuple[str, ...] = ()
    """Warnings about its file, in sentences."""
    state: State = "ready"
    hidden_by: str = ""
    """The file of the earlier one with the same name."""

    @property
    def folder(self) -> Path:
        """A skill's own."""
        return self.path.parent

    @property
    def key(self) -> str:
        """Its unique key."""
        return f"{self.kind} {self.path}"


class Extensions(Struct, frozen=True):
    """Everything found."""

    found: tuple[Extension, ...] = ()
    """Skills before commands; of those with one name, the one that counts first."""
    unusable: Mapping[Kind, tuple[str, ...]] = {}
    """Why files can't be used, a sentence each."""

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(chain.from_iterable(self.unusable.values()))

    def of(self, kind: Kind) -> tuple[Extension, ...]:
        return tuple(one for one in self.found if one.kind == kind)

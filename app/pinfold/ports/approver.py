"""The user's consent to a call."""

from typing import Literal, Protocol

from msgspec import Struct

from pinfold.ports.tool import Review


class Question(Struct, frozen=True):
    """A call that waits for approval, and why; or a question of the model's with choices."""

    call_id: str
    tool: str
    """Empty where no call waits, only a yes or a no."""
    arguments: str
    review: Review
    reason: str
    prefix: str | None = None
    """What "always" would allow: the first words of commands, or a whole one."""
    exact: bool = False
    """Whether it is this command and no other."""
    outside: bool = False
    """Whether a yes lets the command out of its sandbox."""
    network: bool = False
    """Whether it may have the network in its sandbox instead."""
    editable: str = ""
    """The argument that the user would edit; without one, all of them."""
    folders: tuple[str, ...] = ()
    """Where "always" would allow edits of files that nothing names."""
    agent: str = ""
    """The agent that asks, as `a1 explore`; empty is the session itself."""
    edits: bool = False
    """Whether "always" would allow all plain edits in the workspace, in this session."""
    choices: tuple[str, ...] = ()
    """Answers to choose from. What is chosen or written comes back as the note of a yes."""
    by_agent: bool = False
    """Whether the agent itself asks; during a call of another tool a server does."""
    own: str = "Something else"
    """The choice of an answer in the user's own words."""


class Decision(Struct, frozen=True):
    """The user's decision on a call."""

    verdict: Literal["yes", "no", "always", "policy"]
    """`policy` is a no because nobody could be asked."""
    note: str = ""
    """What the user said to the model with a no; with `policy`, the reason; with a yes, the answer
    to a question that has choices."""
    arguments: str | None = None
    """Changed arguments, if the user edited the call."""
    network: bool = False
    """A yes to the network in the sandbox, and to nothing else."""
    pasted: tuple[tuple[int, int], ...] = ()
    """Spans of the `note` that the user did not type."""


class Approver(Protocol):
    async def __call__(self, question: Question) -> Decision: ...

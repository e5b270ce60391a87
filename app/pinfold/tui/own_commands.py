"""What can be typed behind `/` beside pinfold's own commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.registry import BY_SLASH
from pinfold.rollout.provenance import Prompt, Span
from pinfold.tui.prompt.completion import Candidate

if TYPE_CHECKING:
    from pinfold.agent.session import Session


def prompt_of(text: str, pasted: Sequence[Span], session: Session | None) -> Prompt:
    """What was typed, as a call of a skill or a command where it is one."""
    library = session.library if session is not None else None
    called = library is not None and library.parse(text, BY_SLASH) is not None
    return Prompt(text, tuple(pasted), expands=called)


def offered(session: Session | None) -> list[Candidate]:
    """What completion offers."""
    library = session.library if session is not None else None
    if library is None:
        return []
    from pinfold.commands.skills_text import SAID, SOURCES

    return [
        Candidate(
            f"/{name} {one.hint}".rstrip(),
            " · ".join(filter(None, [SOURCES[one.source], SAID[one.state], one.description])),
            f"/{name} ",
        )
        for name, one in library.names(BY_SLASH).items()
    ]

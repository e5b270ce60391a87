"""What can be typed behind `/` beside pinfold's own commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinfold.commands.registry import BY_SLASH
from pinfold.rollout.provenance import Prompt, Span
from pinfold.sanitize import is_safe, one_line
from pinfold.tui.prompt.completion import Candidate

if TYPE_CHECKING:
    from pinfold.agent.session import Session

SLASH = "/mcp:"
"""Begins the name of a server's prompt."""


def prompt_of(text: str, pasted: Sequence[Span], session: Session | None) -> Prompt:
    """What was typed, as a call of a skill, a command or a server's prompt where it is one."""
    library = session.library if session is not None else None
    called = library is not None and library.parse(text, BY_SLASH) is not None
    if session is not None and session.servers is not None:
        called = called or text.startswith(SLASH)
    return Prompt(text, tuple(pasted), expands=called)


def offered(session: Session | None) -> list[Candidate]:
    """What completion offers behind `/`."""
    prompts = _prompts(session)
    library = session.library if session is not None else None
    if library is None:
        return prompts
    from pinfold.commands.skills_text import SAID, SOURCES

    return prompts + [
        Candidate(
            f"/{name} {one.hint}".rstrip(),
            " · ".join(filter(None, [SOURCES[one.source], SAID[one.state], one.description])),
            f"/{name} ",
        )
        for name, one in library.names(BY_SLASH).items()
    ]


def mentions(session: Session | None) -> list[str]:
    """The resources of servers that completion offers behind `@`."""
    if session is None or session.servers is None:
        return []
    from pinfold.agent.servers.mentioned import resources_of

    return [name for name in resources_of(session.servers) if is_safe(name)]


def _prompts(session: Session | None) -> list[Candidate]:
    """The prompts of servers."""
    if session is None or session.servers is None:
        return []
    from pinfold.agent.servers.mentioned import prompts_of

    found = []
    for name, prompt in prompts_of(session.servers):
        wanted = (f"<{a.name}>" if a.required else f"[{a.name}]" for a in prompt.arguments)
        usage = one_line(" ".join([name, *wanted]))
        if is_safe(name):
            found.append(Candidate(usage, one_line(prompt.title or prompt.description), f"{name} "))
    return found

"""Where everything meets: settings, the store, models, tools, the session, the screen."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pinfold import __version__, paths
from pinfold.ports import Approver, ProviderError
from pinfold.rollout.journal import Journal, JournalError, SessionHeld
from pinfold.rollout.store import SessionStore
from pinfold.settings import Loaded, SettingsError, load
from pinfold.trust import is_trusted


class WrongUse(Exception):
    """The command line asks for something that makes no sense."""


FAILURES = (SettingsError, JournalError, SessionHeld, ProviderError, OSError)
"""What ends a command with one plain line."""


@dataclass(frozen=True, slots=True)
class House:
    """What every command starts from."""

    loaded: Loaded
    cwd: Path
    home: Path
    store: SessionStore


def house(arguments: argparse.Namespace) -> House:
    """Read the settings for this command line. Raises `SettingsError`, `WrongUse`."""
    cwd = Path(getattr(arguments, "cd", ".")).expanduser().resolve()
    if not cwd.is_dir():
        raise WrongUse(f"{cwd} is not a folder")
    home = paths.home()
    flags: dict[str, Any] = {
        "model.name": getattr(arguments, "model", None),
        "model.provider": getattr(arguments, "provider", None),
        "approvals.mode": getattr(arguments, "approvals", None),
    }
    for pair in getattr(arguments, "config", None) or ():
        key, equals, value = pair.partition("=")
        if not equals or "." not in key:
            raise WrongUse(f"--config takes SECTION.KEY=VALUE, not {pair!r}")
        flags[key] = value
    project = paths.project_config(cwd)
    loaded = load(
        env=os.environ,
        user_file=paths.config_folder() / "config.toml",
        project_file=project,
        trusted=is_trusted(home, project.parent.parent),
        flags=flags,
    )
    return House(loaded, cwd, home, SessionStore(home))


# Models


async def connect(at: House, name: str | None = None) -> "Connection":
    """The model to talk to: `name` (or `provider/name`) if given, else what the settings and the
    machine offer. Raises `ProviderError`."""
    raise NotImplementedError


# Sessions


async def open_session(
    at: House, approver: Approver, journal: Callable[[], Journal], connection: "Connection"
) -> "Session":
    """A session on `journal`, ready for its first prompt."""
    from pinfold.agent.clock import SystemClock
    from pinfold.agent.session import Options, Session
    from pinfold.tokens.counter import Counter
    from pinfold.tools.registry import tools

    settings = at.loaded.settings
    clock = SystemClock()
    counter = Counter(connection.model.encoding, paths.cache_folder())
    session = await Session.open(
        await asyncio.to_thread(journal),
        at.cwd,
        connection,
        tools() if connection.model.tools else [],
        approver,
        clock,
        Options(
            approvals=settings.approvals.mode,
            allow=settings.approvals.allow,
            max_steps=settings.agent.max_steps,
            max_retries=settings.agent.max_retries,
            reasoning_effort=settings.model.reasoning_effort,
        ),
        counter=counter,
        user_folder=paths.config_folder(),
        connect=partial(connect, at),
    )
    return session

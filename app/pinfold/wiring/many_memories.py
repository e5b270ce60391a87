"""`pinfold memories run` on named sessions."""

import argparse
import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pinfold.commands.arguments import CommandError
from pinfold.host.app_context import AppContext
from pinfold.host.memories import Memories
from pinfold.host.models import key_variables
from pinfold.host.remembering import Only
from pinfold.host.sessions import folder_of
from pinfold.many.engines import Pool
from pinfold.many.named import named
from pinfold.output import warn
from pinfold.rollout.journal import ROLLOUT
from pinfold.wiring.many import wanted_jobs
from pinfold.wiring.progress import watched


def made(
    ctx: AppContext, memories: Memories, words: Sequence[str], arguments: argparse.Namespace
) -> tuple[str, int]:
    """Make memories of the sessions that `words` name, else of all. Returns the outcome in a few
       sentences, and the exit code.
    Raises `WrongUse`, `CommandError`, `StateError`,
       `ProviderError`, `OSError`.
    """
    jobs = wanted_jobs(arguments)
    root = ctx.sessions / "sessions"
    every = named(words or [str(root)], partial(folder_of, ctx))
    own = [path.parent for one in every if _is_own(path := Path(one.path), root)]
    strange = len(every) - len(own)
    if strange:
        files = "1 file is" if strange == 1 else f"{strange:,} files are"
        warn(f"{files} no session of pinfold's and not read: adopt it first (pinfold adopt FILE).")
    read: list[str] = []
    failed: dict[str, str] = {}
    with watched(len(own)) as show:

        def hear(session: str, why: str) -> None:
            read.append(session)
            if why:
                failed[session] = why
            show(len(read), len(failed))

        pool = partial(Pool, jobs, key_variables(ctx.settings)) if jobs and jobs > 1 else None
        try:
            said = asyncio.run(memories.run(only=Only(own, hear, pool)))
        except KeyboardInterrupt:
            many = len(read) - read.count("") - len(failed)
            raise CommandError(
                f"interrupted; {many:,} of {len(own):,} sessions were read, which is kept. "
                "Run it again for the rest."
            ) from None
    for session, why in failed.items():
        warn(f"{session}: {why}")
    return said, 1 if strange or failed else 0


def _is_own(path: Path, root: Path) -> bool:
    return path.name == ROLLOUT and path.is_relative_to(root)

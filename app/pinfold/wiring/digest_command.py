"""`pinfold digest`: prints what was said and done in a session."""

import argparse
import re
import sys
from functools import partial
from pathlib import Path

from pinfold import paths
from pinfold.adopt import detect
from pinfold.adopt.adoption import HALF_WRITTEN, Adoption
from pinfold.many.named import is_for_many
from pinfold.output import print_json, warn
from pinfold.thinning import Thinner
from pinfold.tokens import encodings


def command(arguments: argparse.Namespace) -> int:
    """Raises `WrongUse`, `NotASession`, `JournalError`, `OSError`."""
    if arguments.tokens < 1:
        from pinfold.host.app_context import WrongUse

        raise WrongUse("--tokens takes a positive number")
    if is_for_many(arguments, arguments.sources) or arguments.out:
        from pinfold.wiring.many_digests import digests

        return digests(arguments, partial(_by_id, arguments))
    adoption = _adoption(arguments)
    encodings.get("o200k_base", paths.cache_folder())
    thinned = Thinner(adoption.events).thin(arguments.tokens, redact=arguments.redact)
    if arguments.json:
        from pinfold.many.digest import as_json

        print_json(as_json(adoption, thinned))
    elif thinned.text:
        print(thinned.text)
    return 0


def _adoption(arguments: argparse.Namespace) -> Adoption:
    name = next(iter(arguments.sources), None)
    if name == "-":
        content = sys.stdin.buffer.read()
        return detect.read_bytes(content, "standard input", arguments.index)
    if name is not None and paths.is_file_name(name):
        path = paths.typed(name)
    else:
        path = _by_id(arguments, name)
    adoption = detect.read(path, arguments.index)
    if HALF_WRITTEN in adoption.notes:
        warn(f"{path}: {HALF_WRITTEN}")
    return adoption


def _by_id(arguments: argparse.Namespace, session: str | None) -> Path:
    """The session whose id begins with `session`: pinfold's, else another tool's; without an id,
    pinfold's newest in this folder. Raises `JournalError`."""
    from pinfold.adopt.foreign_list import files, tool_folders
    from pinfold.host.app_context import app_context
    from pinfold.host.vault import file_of
    from pinfold.rollout.journal import JournalError

    ctx = app_context(arguments)
    if session is None:
        return ctx.store.last(ctx.cwd)
    try:
        return ctx.store.find(session)
    except JournalError:
        begins = re.compile(rf"(?:rollout-.*-\d\d-)?{re.escape(session)}")
        every = (file for folder in tool_folders() for file in files(folder))
        match [file for file in every if begins.match(file.name)]:
            case [file]:
                return file
        if (kept := file_of(ctx, session)) is not None:
            return kept
        raise

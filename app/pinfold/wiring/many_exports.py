"""`pinfold export` of many sessions."""

import argparse
from functools import partial

import msgspec

from pinfold import paths
from pinfold.commands.arguments import CommandError
from pinfold.commands.export import scope_named, wish
from pinfold.export.formats import ENDINGS
from pinfold.host.app_context import AppContext, WrongUse
from pinfold.host.model_used import is_once
from pinfold.host.sessions import folder_of
from pinfold.many.named import named
from pinfold.many.work import SessionWork
from pinfold.sanitize import one_line
from pinfold.wiring import many


def exports(ctx: AppContext, arguments: argparse.Namespace) -> int:
    """Raises `WrongUse`, `JournalError`, `OSError`."""
    if arguments.format is None:
        folder = next((word for word in arguments.sources if paths.typed(word).is_dir()), None)
        what = (
            "more than one session" if folder is None else f"{one_line(folder)}, which is a folder"
        )
        raise WrongUse(f"to export {what}, name a format: --format md")
    if arguments.out in (None, "-"):
        raise WrongUse("name a folder for several sessions: --out DIR")
    if bool(arguments.sources) == bool(arguments.last):
        raise WrongUse("name sessions, files or folders, or use --last")
    try:
        scope = scope_named(window=arguments.window, all=arguments.all)
        asked = wish(arguments.format, None, scope, redact=arguments.redact)
    except CommandError as error:
        raise WrongUse(str(error)) from error
    by_id = partial(folder_of, ctx)
    words = arguments.sources or [str(by_id(None))]
    out = paths.typed(arguments.out)
    sessions = many.outside(out, named(words, by_id))
    settings = {
        "format": asked.format,
        "scope": asked.scope,
        "index": arguments.index,
        "model": msgspec.to_builtins(ctx.settings.model),
        "once": is_once(ctx),
    }
    work = SessionWork("export", settings, arguments.redact)
    with many.kept(out, ENDINGS[asked.format]) as results:
        return many.code(many.worked(arguments, work, sessions, results))

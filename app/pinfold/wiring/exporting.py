"""`pinfold export`: a session or file as a document."""

import argparse
from pathlib import Path

from pinfold.commands.arguments import CommandError
from pinfold.commands.export import Wish, document, replaced, save, scope_named, wish
from pinfold.host.app_context import WrongUse, app_context
from pinfold.many.export import transcript
from pinfold.many.named import is_for_many
from pinfold.output import print_bytes, warn
from pinfold.wiring.sources import find, model_of


def command(arguments: argparse.Namespace) -> int:
    """Write to the named file, else to one with a default name.

    Without a format and a file, or with `--out -`, the rollout goes to standard output.
    """
    ctx = app_context(arguments)
    if is_for_many(arguments, arguments.sources):
        from pinfold.wiring.many_exports import exports

        return exports(ctx, arguments)
    arguments.source = next(iter(arguments.sources), None)
    asked, screen = _wish(arguments)
    source = find(ctx, arguments)
    every = tuple(source.events())
    lines = source.lines() if asked.format == "jsonl" else ()
    made = document(asked, transcript(every, model_of(ctx, every)), lines)
    if not screen:
        print(save(made, asked, Path.cwd()))
        return 0
    print_bytes(made.content)
    if made.secrets:
        warn(replaced(made.secrets))
    return 0


def _wish(arguments: argparse.Namespace) -> tuple[Wish, bool]:
    """The request, and whether it goes to standard output."""
    out: str | None = arguments.out
    screen = out == "-" or (out is None and arguments.format is None)
    name = arguments.format or ("jsonl" if screen else None)
    scope = scope_named(window=arguments.window, all=arguments.all)
    try:
        asked = wish(
            name, None if screen or out is None else Path(out), scope, redact=arguments.redact
        )
    except CommandError as error:
        raise WrongUse(str(error)) from error
    return asked, screen

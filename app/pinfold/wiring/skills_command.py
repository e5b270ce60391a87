"""`pinfold skills`: skills and commands, as text."""

import argparse

from pinfold.commands.skills_text import NONE, called, lines
from pinfold.host.app_context import app_context
from pinfold.host.skills import library_of
from pinfold.output import print_json
from pinfold.skills.extension import Kind
from pinfold.tokens.heuristic import estimate

KINDS: tuple[Kind, ...] = ("skill", "command")


def command(arguments: argparse.Namespace) -> int:
    shelf = library_of(app_context(arguments)).refresh()
    if arguments.json:
        for one in shelf.found:
            said = {
                "kind": one.kind,
                "name": called(one),
                "description": one.description,
                "source": one.source,
                "file": str(one.path),
                "tokens": estimate(one.body),
                "state": one.state,
                "hidden_by": one.hidden_by,
            }
            print_json(said)
        return 0
    for kind in KINDS:
        print("\n".join(lines(shelf.of(kind), estimate)) or NONE[kind])
    for problem in shelf.problems:
        print(f"! {problem}")
    return 0

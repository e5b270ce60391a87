"""What `pinfold eval` prints and writes."""

import argparse
import os
import sys
from pathlib import Path

from pinfold.atomic_files import failure, write_atomic
from pinfold.commands.arguments import CommandError
from pinfold.evaluation.report import EvalReport, html
from pinfold.evaluation.terminal import WIDTH, printed
from pinfold.output import print_json, print_table


def check_report(path: Path | None) -> None:
    """Check before the work that its report can be written. Raises `CommandError`."""
    if path is None:
        return
    if path.exists():
        raise CommandError(f"{path} exists already. Name another file.")
    if not os.access(path.parent, os.W_OK):
        raise CommandError(f"{path} can't be written: {path.parent} is not a writable folder.")


def show(result: object, report: EvalReport, arguments: argparse.Namespace) -> None:
    """Print a result, and write the HTML page. Raises `CommandError`."""
    if arguments.json:
        print_json(result, indented=True)
    else:
        print_table(printed(report), width=WIDTH)
    path: Path | None = arguments.html
    if path is None:
        return
    try:
        write_atomic(path, html(report).encode())
    except OSError as error:
        raise CommandError(failure(path, error)) from error
    print(f"Report written to {path}.", file=sys.stderr)

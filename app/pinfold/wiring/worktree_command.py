"""`pinfold worktree`: lists and removes what `pinfold --worktree NAME` made."""

import argparse
import asyncio
from pathlib import Path

from pinfold import paths
from pinfold.host.app_context import WrongUse, app_context
from pinfold.host.worktrees import remove, use, worktrees


def command(arguments: argparse.Namespace) -> int:
    cwd = app_context(arguments).cwd
    if arguments.action == "remove":
        if not arguments.name:
            raise WrongUse("pinfold worktree remove needs the name of a worktree")
        print(asyncio.run(remove(cwd, arguments.name)))
        return 0
    if arguments.name:
        raise WrongUse("pinfold worktree list takes no name")
    found = asyncio.run(worktrees(cwd))
    for worktree in found:
        state = f"{worktree.changed} uncommitted" if worktree.changed else "clean"
        print(f"{worktree.name:<20}  {state:<16}  {paths.shown(worktree.path)}")
    if not found:
        print("No worktrees. Make one with: pinfold --worktree NAME")
    return 0


def enter(arguments: argparse.Namespace) -> str:
    """Point `--cd` at the named worktree; returns a sentence on what was done."""
    cwd = app_context(arguments, even_if_broken=True).cwd
    folder, said = asyncio.run(use(cwd, arguments.worktree))
    arguments.cd = Path(folder)
    return said

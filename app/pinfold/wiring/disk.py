"""`pinfold delete` and `pinfold gc`: free disk space."""

import argparse
from pathlib import Path

from pinfold import paths
from pinfold.agent.clock import CLOCK
from pinfold.host import finding
from pinfold.host.app_context import AppContext, app_context
from pinfold.numbers import ID_SHOWN, plural
from pinfold.output import warn
from pinfold.rollout import disk
from pinfold.rollout.hold import SessionHeld, is_held
from pinfold.rollout.journal import ROLLOUT, JournalError
from pinfold.rollout.summaries import listen
from pinfold.sanitize import one_line
from pinfold.tools.workspace import size_text
from pinfold.wiring.stdin import confirmed


def delete(arguments: argparse.Namespace) -> int:
    """Delete sessions; ask before each. Raises `JournalError`, `SessionHeld`, `WrongUse`."""
    ctx = app_context(arguments)
    found = list(dict.fromkeys(ctx.store.find(session) for session in arguments.sessions))
    for folder in found:
        if is_held(folder):
            raise JournalError(f"Session {folder.name[:ID_SHOWN]} is open in another pinfold.")
    code = 0
    for folder in found:
        print("\n".join(_deletion_lines(ctx, folder)))
        if not confirmed("Delete it? This can't be undone.", yes=arguments.yes):
            print("Nothing deleted.")
            code = 1
            continue
        disk.delete(folder, CLOCK.now)
        finding.forget(ctx, folder)
        forget_results(folder)
        print(f"Deleted session {folder.name}.")
        if why := _forgotten(ctx, folder.name):
            warn(why)
            code = 1
    return code


def forget_results(folder: Path) -> None:
    """Remove cached results of a session."""
    from pinfold.many.results import Cache

    cache = Cache(paths.cache_folder())
    cache.forget(folder)
    cache.close()


def _deletion_lines(ctx: AppContext, folder: Path) -> list[str]:
    """What is deleted, and which forks use it."""
    lines = [f"Session {folder.name} in {one_line(paths.shown(folder))}"]
    summary = listen(folder)
    title = one_line(summary.title) or "no prompt"
    turns = plural(summary.turns, "turn")
    lines.append(f"  “{title}”, {turns}, {size_text(disk.size_of(folder).total)}")
    for fork in disk.forks_of(folder.name, disk.folders(ctx.sessions)):
        name = fork.name[:ID_SHOWN]
        if disk.names(fork, folder):
            lines.append(
                f"  Its fork {name} uses outputs stored here; copies are kept in "
                f"{one_line(paths.shown(fork / 'outputs'))}."
            )
        else:
            lines.append(f"  Its fork {name} does not depend on it.")
    return lines


def _forgotten(ctx: AppContext, session: str) -> str:
    """Forget memories that came only from the session; returns an error text, or nothing."""
    from pinfold.host.memory_access import teams_of
    from pinfold.memories.keeper import Keeper
    from pinfold.memories.places import MemoriesRefused
    from pinfold.memories.records import StateError

    keeper = Keeper(ctx.home, CLOCK.now, teams_of(ctx))
    try:
        if keeper.deleted(session):
            print("Memories that came only from it are forgotten.")
    except (MemoriesRefused, StateError, OSError) as error:
        return (
            f"memories still know of it: {error} `pinfold memories forget {session}` removes them."
        )
    finally:
        keeper.close()
    return ""


def gc(arguments: argparse.Namespace) -> int:
    """List files that no rollout refers to; with `--apply`, remove them."""
    ctx = app_context(arguments)
    size = found = held = failed = 0
    for folder in disk.folders(ctx.sessions):
        try:
            if is_held(folder):
                held += 1
                continue
            waste = disk.clear(folder, CLOCK.now) if arguments.apply else disk.waste(folder)
        except SessionHeld:
            held += 1
            continue
        except OSError as error:
            failed += 1
            where = paths.shown(Path(error.filename or folder))
            warn(f"{where}: {error.strerror or error}")
            continue
        if waste is not None:
            found += 1
            size += waste.size
            print(_waste_line(waste))
    if held:
        were = "1 session is" if held == 1 else f"{held:,} sessions are"
        print(f"{were} open and skipped.")
    how = "removed" if arguments.apply else "can be removed; `pinfold gc --apply` does it"
    print(f"{size_text(size)} {how}." if found else "No unused files.")
    return 1 if failed else 0


def _waste_line(waste: disk.Waste) -> str:
    count = plural(len(waste.files), "file")
    size = size_text(waste.size)
    if waste.leftover:
        return f"{one_line(paths.shown(waste.folder))}: {count}, {size}, without a {ROLLOUT}"
    return f"Session {waste.folder.name[:ID_SHOWN]}: {count}, {size}, not referred to"

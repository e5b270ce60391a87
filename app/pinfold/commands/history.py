"""Commands on what was: earlier windows, and what the host keeps in mind."""

from collections.abc import Sequence

from pinfold.commands.action import Action, CommandError
from pinfold.commands.context import Context, Level

LEDGER = 1_000
"""Tokens of the ledger that `/checkpoint` tells."""
_SHOWN = 100
"""Lines of a note in the transcript."""


async def history(context: Context, argument: str) -> None:
    from pinfold.commands import history_text

    window = context.session.window
    match argument.split():
        case []:
            context.tell("\n".join(history_text.windows(window.generations)))
        case ["show", one]:
            items = window.standing(_generation(one))
            context.tell(_note(context, list(history_text.standing(items)), f"--show {one}"))
        case ["diff", one, other]:
            changes = window.differences(_generation(one), _generation(other))
            lines = list(history_text.differences(changes))
            context.tell(_note(context, lines, f"--diff {one} {other}"))
        case ["restore", one]:
            await _restore(context, _generation(one))
        case _:
            raise CommandError("/history takes nothing, show G, diff G H, or restore G.")


async def _restore(context: Context, generation: int) -> None:
    from pinfold.commands.history_text import fits

    session = context.session
    said = await session.window.restore(generation)
    reading = session.reading()
    level: Level = "warning" if reading.used > reading.usable else "info"
    context.tell(f"{said} {fits(reading)} /undo takes it back.", level)


def _generation(text: str) -> int:
    if not text.isdecimal():
        raise CommandError(f"“{text}” is no window's number; /history lists them.")
    return int(text)


def _note(context: Context, lines: Sequence[str], option: str) -> str:
    """The lines, or the last of them where there are many."""
    if len(lines) <= _SHOWN:
        return "\n".join(lines)
    command = f"pinfold history {context.session.id} {option}"
    head = f"The last {_SHOWN} of {len(lines):,} lines; all of them: {command}"
    return "\n".join((head, *lines[-_SHOWN:]))


async def checkpoint(context: Context, argument: str) -> None:
    from pinfold.checkpoint.view import view_v1

    if argument not in ("", "show"):
        raise CommandError("/checkpoint takes nothing, or show.")
    session = context.session
    found, ledger = await session.compaction.checkpoint()
    context.tell(f"{view_v1(found)}\n{ledger.render(LEDGER, session.window.count)}".rstrip())


ACTIONS = (
    Action(
        "history",
        "List earlier windows, show, compare or restore one",
        "window",
        ("history",),
        "[show G|diff G H|restore G]",
        run=history,
        choices=lambda _: ("show", "diff", "restore"),
    ),
    Action(
        "checkpoint",
        "Show what the host keeps in mind of this session",
        "window",
        ("checkpoint",),
        "[show]",
        run=checkpoint,
    ),
)

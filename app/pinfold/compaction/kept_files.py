"""Files that `keep_files_glob` names: the newest read and the newest edit of each."""

from collections.abc import Iterator

from pinfold.compaction.atoms import Atom
from pinfold.compaction.budget import KEPT_FILES, room
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.window.pins import concerns

_NAMED = 5


def kept_files(view: WindowView, options: PlanOptions, most: int) -> dict[int, str]:
    """The items that a glob keeps, each with it, within `most` tokens and their share of the
    target."""
    left = min(most, int(KEPT_FILES * room(view, options).target))
    found: dict[int, str] = {}
    for glob, pair in _pairs(view, options):
        cost = sum(entry.tokens for entry in pair if entry.n not in found)
        if cost <= left:
            left -= cost
            found.update((entry.n, glob) for entry in pair)
    return found


def files_left_out(view: WindowView, plan: CompactionPlan, options: PlanOptions) -> Iterator[str]:
    """Says that there was no room for some of the files."""
    stays = set(plan.window)
    paths = dict.fromkeys(
        path
        for glob, pair in _pairs(view, options)
        if any((entry.n, entry.form) not in stays for entry in pair)
        for path in pair[0].files
        if concerns(glob, [path])
    )
    if paths:
        more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
        yield f"keep_files_glob: no room for {', '.join([*paths][:_NAMED])}{more}."


def _pairs(view: WindowView, options: PlanOptions) -> Iterator[tuple[str, Atom]]:
    """What each glob names, newest first: a call with its result, unless the user folds it."""
    entries = view.by_number
    for glob in options.keep_files_glob:
        for n in view.newest_about(glob):
            both = (entries[n], entries.get(entries[n].partner or 0))
            pair = tuple(entry for entry in both if entry is not None)
            if all(entry.sent for entry in pair) and not options.fold & {e.n for e in pair}:
                yield glob, pair

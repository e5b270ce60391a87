"""What models wrote of a session, told on by strategies that ask none."""

from collections.abc import Sequence
from typing import Any

from pinfold.compaction.assembly import assemble
from pinfold.compaction.budget import SUMMARY, share
from pinfold.compaction.checkpoint_text import checkpoint_text
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.summary import Entry, entries_of, text_of, to_detail, within
from pinfold.compaction.view import PlanOptions, WindowView

HEADER = "[SUMMARY, BY A MODEL]"


def carried(view: WindowView) -> tuple[Entry, ...]:
    """What the window's summaries say already, one entry for each id."""
    shown = (entry.item for entry in view.of_kind("summary") if entry.sent)
    entries = (each for item in shown for each in entries_of(item))
    return tuple({each.id: each for each in entries}.values())


def assemble_with(
    view: WindowView, options: PlanOptions, strategy: str, entries: Sequence[Entry]
) -> CompactionPlan:
    """A window that begins with the checkpoint and these entries. Raises `Impossible`."""

    def text(target: int, more: int) -> tuple[str, dict[str, Any]]:
        known = checkpoint_text(view, target, more)
        fitting = within(entries, share(SUMMARY, target), view.count) if entries else ()
        if not fitting:
            return known, {}
        return f"{known}\n\n{HEADER}\n{text_of(fitting)}", to_detail(fitting)

    return assemble(view, options, strategy, "summary" if entries else "checkpoint", text)

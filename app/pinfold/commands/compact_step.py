"""The progress of a compaction as text; loaded with the screen."""

from pinfold.agent.updates import CompactionProgress


def standing(update: CompactionProgress) -> str:
    """`snapshot: summarising, part 2 of 5 · 46%`."""
    share = f" · {update.done:.0%}" if 0 < update.done < 1 else ""
    return f"{update.strategy or 'compacting'}: {update.step}{share}"

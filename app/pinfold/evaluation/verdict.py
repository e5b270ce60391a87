"""What an evaluation means, in a few sentences."""

from collections.abc import Sequence

from pinfold.evaluation.scores import Comparison, Evaluation, Probe, Scores, StrategyResult

NAMES: dict[Probe, str] = {
    "goal": "the goal",
    "constraints": "the constraints",
    "decisions": "decisions",
    "facts": "the latest value of facts that changed",
    "next": "the next step and open questions",
    "files": "the files it changed",
}
KEPT, LOST = 0.95, 0.80
"""From which on a thing counts as kept; below which, as lost."""


def verdict(found: Evaluation) -> str:
    """Which strategy to trust, and with what."""
    able = [each for each in found.results if _is_whole(each, found)]
    if not able:
        return "No strategy came through to the end within the budget."
    best = max(able, key=lambda each: (_final(each, found).overall.mean, each.kind == "ours"))
    told = _final(best, found)
    after = f"After {found.compactions} compaction{'s' if found.compactions > 1 else ''}"
    kept = [name for probe, name in NAMES.items() if told.probes[probe].mean >= KEPT]
    lost = sorted(
        (mean, name) for probe, name in NAMES.items() if (mean := told.probes[probe].mean) < LOST
    )
    share = f"{told.overall.mean:.0%} of what a window should still say"
    sentences = [f"{after} to {found.budget:,} tokens, {best.strategy} keeps the most: {share}."]
    if kept:
        sentences.append(f"Trust it with {_listed(kept)}.")
    if lost:
        worst = [f"{name} ({mean:.0%})" for mean, name in lost]
        sentences.append(f"Pin, or say again: {_listed(worst)}.")
    stale = 1 - told.probes["stale"].mean
    if stale > 1 - KEPT:
        sentences.append(f"Of facts that changed, {stale:.0%} still show an old value.")
    if found.smoke:
        sentences.append("What the model said is a smoke test and no part of this.")
    return " ".join(sentences)


def comparison(told: Comparison, trials: int) -> str:
    """One strategy against another in a sentence, with its spread."""
    difference = told.difference
    how = "a model that was asked" if told.how == "asked" else "the window as read"
    if difference.low > 0:
        better = f"{told.strategy} is ahead of {told.against}"
    elif difference.high < 0:
        better = f"{told.strategy} is behind {told.against}"
    else:
        better = f"{told.strategy} and {told.against} can't be told apart"
    return (
        f"{better} in goal coherence after {told.compactions}, by {how}: "
        f"{difference.mean:+.2f} ± {difference.deviation:.2f} "
        f"({difference.low:+.2f} to {difference.high:+.2f} in {trials} "
        f"trial{'s' if trials > 1 else ''})."
    )


def _final(result: StrategyResult, found: Evaluation) -> Scores:
    """The scores at its last point: as asked, where a model that can be trusted was."""
    last = result.points[-1]
    return last.asked if last.asked and not found.smoke else last.read


def _is_whole(result: StrategyResult, found: Evaluation) -> bool:
    """Whether it went all the way, within the budget."""
    after = result.points[1:]
    return len(after) == found.compactions and all(point.within for point in after)


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

"""What an evaluation means, in a few sentences."""

from collections.abc import Sequence

from pinfold.evaluation.scores import (
    PROBES,
    Comparison,
    Evaluation,
    How,
    Probe,
    Scores,
    Spread,
    StrategyResult,
    is_asked,
)
from pinfold.numbers import plural

NAMES: dict[Probe, str] = {
    "goal": "the goal",
    "constraints": "the constraints",
    "decisions": "decisions",
    "facts": "the latest value of facts that changed",
    "next": "the next step and open questions",
    "files": "the files that were changed",
}
KEPT, LOST = 0.95, 0.80
"""At or above the first, a thing counts as kept; below the second, as lost."""


def verdict(found: Evaluation) -> str:
    """Which strategies to trust, and with what. None that is over the budget."""
    able = [result for result in found.results if _is_whole(result, found)]
    if not able:
        return "No strategy stayed within the budget to the end."
    asked = not found.smoke and is_asked([result.points[-1] for result in able])
    how: How = "asked" if asked else "read"
    best = _best(able, how)
    final = [_final(result, how) for result in best]
    known = "a model should still know" if asked else "a window should still say"
    after = plural(found.compactions, "compaction")
    sentences = [
        f"After {after} to {found.budget:,} tokens, {_keepers(best, how)} of what {known}."
    ]
    means = {probe: min(scores.probes[probe].mean for scores in final) for probe in PROBES}
    if kept := [name for probe, name in NAMES.items() if means[probe] >= KEPT]:
        sentences.append(f"Trust {'it' if len(best) == 1 else 'them'} with {listed(kept)}.")
    if lost := sorted((means[probe], name) for probe, name in NAMES.items() if means[probe] < LOST):
        worst = [f"{name} ({mean:.0%})" for mean, name in lost]
        sentences.append(f"Pin or repeat: {listed(worst)}.")
    if means["stale"] < KEPT:
        sentences.append(
            f"Of facts that changed, {1 - means['stale']:.0%} still show an old value."
        )
    if found.smoke:
        sentences.append("The model's answers are a smoke test and not part of this.")
    elif found.model and not asked:
        sentences.append(
            "This is by the windows' text: not all answers about them have been graded."
        )
    return " ".join(sentences)


def _best(able: Sequence[StrategyResult], how: How) -> list[StrategyResult]:
    """The strategy that keeps the most, and those that it does not beat in every trial."""
    first = max(able, key=lambda one: (_final(one, how).overall.mean, one.kind == "ours"))
    return [one for one in able if one is first or not _is_ahead(first, one, how)]


def _is_ahead(one: StrategyResult, other: StrategyResult, how: How) -> bool:
    pairs = zip(one.last_trials[how], other.last_trials[how], strict=True)
    return all(a is not None and b is not None and a > b for a, b in pairs)


def _keepers(best: Sequence[StrategyResult], how: How) -> str:
    names = listed([result.strategy for result in best])
    shares = list(dict.fromkeys(_share(_final(result, how).overall) for result in best))
    if len(best) == 1:
        return f"{names} keeps the most: {shares[0]}"
    if len({result.last_trials[how] for result in best}) == 1:
        return f"{names} keep the same, and the most: {shares[0]}"
    return f"{names} keep the most and can't be told apart: {listed(shares)}"


def _share(of: Spread) -> str:
    return f"{of.mean:.0%} ± {of.deviation:.1%}"


def comparison(of: Comparison, trials: int) -> str:
    """One strategy against another in a sentence, with its spread."""
    difference = of.difference
    how = "a model's answers" if of.how == "asked" else "the window's text"
    if difference.low > 0:
        better = f"{of.strategy} is ahead of {of.against}"
    elif difference.high < 0:
        better = f"{of.strategy} is behind {of.against}"
    else:
        better = f"{of.strategy} and {of.against} can't be told apart"
    return (
        f"{better} in goal coherence after {plural(of.compactions, 'compaction')}, by {how}: "
        f"{difference.mean:+.2f} ± {difference.deviation:.2f} "
        f"({difference.low:+.2f} to {difference.high:+.2f} in {plural(trials, 'trial')})."
    )


def _final(result: StrategyResult, how: How) -> Scores:
    last = result.points[-1]
    return last.asked if how == "asked" and last.asked else last.read


def _is_whole(result: StrategyResult, found: Evaluation) -> bool:
    """Whether it ran to the end, within the budget."""
    after = result.points[1:]
    return len(after) == found.compactions and all(point.within for point in after)


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

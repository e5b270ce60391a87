"""What an evaluation on recorded sessions means, in a few sentences."""

from collections.abc import Sequence

from pinfold.evaluation.recorded_scores import LEVEL, NAMES, OWN, Recorded, StrategyScore
from pinfold.evaluation.verdict import LOST, listed


def verdict(found: Recorded) -> str:
    """Which strategy to trust with recorded sessions."""
    able = [row for row in found.rows if "need" in row.kept]
    if not able:
        return f"No window was compacted to {found.budget:,} tokens with anything needed later."
    fair = [row for row in able if row.tokens <= found.budget]
    ours = [row for row in fair if row.origin == "ours"]
    if not ours:
        sizes = ", ".join(f"{row.strategy} {row.tokens:,}" for row in able if row.origin == "ours")
        return (
            f"None of our strategies fits {found.budget:,} tokens on average ({sizes}): there is "
            "nothing "
            "to compare. Allow more with --budget."
        )
    best = max(ours, key=lambda row: row.mean)
    sentences = [f"In {found.budget:,} tokens, {_keepers(best, ours)}."]
    if others := [row for row in fair if row.origin == "baseline"]:
        other = max(others, key=lambda row: row.mean)
        sentences.append(f"The best baseline, {other.strategy}, keeps {_kept_text(other)}.")
    beside = {row.strategy: row for row in found.real if "need" in row.kept}
    if OWN in beside and best.strategy in beside:
        own, same = beside[OWN], beside[best.strategy]
        sentences.append(
            f"Where the original tools compacted, they kept {_kept_text(own)}, in {own.tokens:,} "
            f"tokens on average; {best.strategy} {_shares_text(same)}, in {same.tokens:,}."
        )
    if weak := [f"{NAMES[name]} ({part:.0%})" for name, part in best.kept.items() if part < LOST]:
        sentences.append(f"Weakest in {best.strategy}: {', '.join(weak)}.")
    return " ".join(sentences)


def _keepers(best: StrategyScore, ours: Sequence[StrategyScore]) -> str:
    level = [row for row in ours if abs(row.mean - best.mean) < LEVEL]
    if len(level) == 1:
        return f"{best.strategy} keeps {_kept_text(best)}"
    about = "" if len({_kept_text(row) for row in level}) == 1 else "about "
    return f"{listed([row.strategy for row in level])} keep {about}{_kept_text(best)}"


def _kept_text(row: StrategyScore) -> str:
    shares = f"{row.kept['need']:.0%} of the names that the agent needed later"
    if "words" in row.kept:
        shares += f" and {row.kept['words']:.0%} of what the user said"
    return shares


def _shares_text(row: StrategyScore) -> str:
    said = [row.kept[name] for name in ("need", "words") if name in row.kept]
    return " and ".join(f"{part:.0%}" for part in said)

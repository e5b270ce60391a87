"""What strategies keep of recorded sessions, as plain text, at most 80 columns wide."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from pinfold.evaluation.recorded_scores import LEVEL, MEASURES, NAMES, OWN, Measure, Recorded, Row
from pinfold.evaluation.verdict import listed
from pinfold.sanitize import one_line

WIDTH = 80
_HEADS: dict[Measure, str] = {
    "need": "need",
    "letter": "letter",
    "memory": "memory",
    "changed": "edited",
    "read": "read",
    "errors": "errors",
    "words": "words",
}
CUTS = (
    "A session is cut before each compaction that it holds, but at most eight of them, and once at "
    "60% of its items; what fits the budget there is not compacted. Each cut counts alike. Nothing "
    "leaves this machine, and no model is asked."
)
OVER = "on average its windows are larger than {:,} tokens, so it is not to be compared."
WEAK = 0.8
"""A share below which the verdict names it."""
_NAMED = 15
"""Columns of a strategy's name."""


def page(found: Recorded) -> Iterator[str]:
    """The lines."""
    for session in found.sessions:
        if session.cuts:
            facts = f"{session.tool}, {session.items:,} items, {cuts(len(session.cuts))}"
            yield f"{one_line(session.name)} ({facts})"
            yield from _table(session.rows, found.budget)
            yield ""
    count = sum(bool(session.cuts) for session in found.sessions)
    every = sum(len(session.cuts) for session in found.sessions)
    yield f"All {sessions(count)}, {cuts(every)}"
    yield from _table(found.rows, found.budget)
    if found.real:
        yield ""
        yield f"Where the recording tools compacted, {cuts(found.real[0].all)}"
        yield from _table(found.real, found.budget)
    if any(row.tokens > found.budget for row in found.rows):
        yield ""
        yield from wrap(f"!: {OVER.format(found.budget)}", WIDTH)
    if small := len(found.sessions) - count:
        yield from wrap(f"{sessions(small)} with nothing to compact: they fit already.", WIDTH)
    yield ""
    yield from wrap(found.verdict, WIDTH)


def explained() -> Iterator[str]:
    """What the columns mean."""
    yield "Every share is in [0, 1]; higher is better."
    for measure, text in MEASURES.items():
        yield from wrap(f"{_HEADS[measure]:<8}{text}", WIDTH, subsequent_indent=" " * 8)
    yield from wrap(CUTS, WIDTH)


def verdict(found: Recorded) -> str:
    """What a user may trust."""
    able = [row for row in found.rows if "need" in row.kept]
    if not able:
        return f"No window was compacted to {found.budget:,} tokens with anything needed later."
    fair = [row for row in able if row.tokens <= found.budget]
    ours = [row for row in fair if row.origin == "ours"]
    if not ours:
        sizes = ", ".join(f"{row.strategy} {row.tokens:,}" for row in able if row.origin == "ours")
        return (
            f"None of ours keeps to {found.budget:,} tokens on average ({sizes}): there is nothing "
            "to compare. Allow more with --budget."
        )
    best = max(ours, key=lambda row: row.mean)
    sentences = [f"In {found.budget:,} tokens, {_keep(best, ours)}."]
    if others := [row for row in fair if row.origin == "baseline"]:
        other = max(others, key=lambda row: row.mean)
        sentences.append(f"The best baseline, {other.strategy}, keeps {_kept(other)}.")
    beside = {row.strategy: row for row in found.real if "need" in row.kept}
    if OWN in beside and best.strategy in beside:
        own, same = beside[OWN], beside[best.strategy]
        sentences.append(
            f"Where the recording tools compacted, they kept {_kept(own)}, in {own.tokens:,} "
            f"tokens on average; {best.strategy} {_shares(same)}, in {same.tokens:,}."
        )
    if weak := [f"{NAMES[each]} ({part:.0%})" for each, part in best.kept.items() if part < WEAK]:
        sentences.append(f"Weakest in {best.strategy}: {', '.join(weak)}.")
    return " ".join(sentences)


def _keep(best: Row, ours: Sequence[Row]) -> str:
    """Who keeps how much; those that are level are named together."""
    level = [row for row in ours if abs(row.mean - best.mean) < LEVEL]
    if len(level) == 1:
        return f"{best.strategy} keeps {_kept(best)}"
    about = "" if len({_kept(row) for row in level}) == 1 else "about "
    return f"{listed([row.strategy for row in level])} keep {about}{_kept(best)}"


def _kept(row: Row) -> str:
    told = f"{row.kept['need']:.0%} of the names that the agent needed later"
    if "words" in row.kept:
        told += f" and {row.kept['words']:.0%} of what the user said"
    return told


def _shares(row: Row) -> str:
    said = [row.kept[each] for each in ("need", "words") if each in row.kept]
    return " and ".join(f"{part:.0%}" for part in said)


def sessions(count: int) -> str:
    return f"{count} session{'s' if count != 1 else ''}"


def cuts(count: int) -> str:
    return f"{count} cut{'s' if count != 1 else ''}"


def _table(rows: Sequence[Row], budget: int) -> Iterator[str]:
    heads = "".join(f"{_HEADS[measure]:>7}" for measure in MEASURES)
    yield f"{'':<{_NAMED}}{heads}  tokens"
    for row in rows:
        name = f"{one_line(row.strategy)[: _NAMED - 1]:<{_NAMED}}"
        if not row.cuts:
            yield f"{name}not run"
            continue
        shares = "".join(_share(row.kept.get(measure)) for measure in MEASURES)
        yield f"{name}{shares}{row.tokens:>8,}{'!' if row.tokens > budget else ''}".rstrip()


def _share(share: float | None) -> str:
    return f"{'-' if share is None else f'{share:.2f}':>7}"

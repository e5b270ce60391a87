"""What strategies keep of recorded sessions, as plain data: for the terminal, JSON and reports."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Literal

from msgspec import Struct

Measure = Literal["need", "letter", "memory", "changed", "read", "errors", "words"]

MEASURES: dict[Measure, str] = {
    "need": "Of the files, identifiers, hashes, issue numbers and URLs that were seen "
    "before the cut and that the agent put into its calls after it, up to the next compaction, the "
    "share that the new window holds. A file counts if its name is there.",
    "letter": "The same with folders, and every path must be complete.",
    "memory": "Of these, the share of what a call refers to before anything has shown it again.",
    "changed": "Of the files that were changed before the cut, the share whose path is still "
    "there.",
    "read": "Of the files that were read before the cut, the share whose path is still there.",
    "errors": "Of the newest error message of each class, the share that is still there word for "
    "word.",
    "words": "Of the user's messages in the window, the newest first, as many as fit the budget: "
    "the share that is still there word for word.",
}
"""What is measured at each cut, each in [0, 1]."""
NAMES: dict[Measure, str] = {
    "need": "future need",
    "letter": "exact paths",
    "memory": "from memory",
    "changed": "files changed",
    "read": "files read",
    "errors": "errors",
    "words": "user's words",
}

Origin = Literal["ours", "baseline", "recording"]
"""Who made the new window; `recording` is the tool that recorded the session."""
LEVEL = 0.01
"""Means that are closer than this count as equal."""
OWN = "own compaction"
"""The name of the recording tool's own compaction."""


class StrategyWindow(Struct, frozen=True):
    """What one strategy made of the window at one cut."""

    strategy: str
    origin: Origin
    kept: dict[Measure, float] = {}
    """Without measures that had nothing to ask."""
    tokens: int = 0
    milliseconds: float = 0.0
    """To plan and check, from a folded window."""
    not_run: str = ""
    """Why there is no new window."""


class CutResult(Struct, frozen=True):
    """One cut of a session."""

    item: int
    """The last item before it."""
    real: bool
    """Whether the recording has a compaction there."""
    tokens: int
    """The window's tokens before it."""
    made: tuple[StrategyWindow, ...]


class StrategyScore(Struct, frozen=True):
    """One strategy over several cuts; each cut counts alike."""

    strategy: str
    origin: Origin
    cuts: int
    """At which it ran."""
    not_run: int
    kept: dict[Measure, float]
    tokens: int
    """Mean."""
    milliseconds: float
    """Median."""
    over: int
    """Cuts after which its window is over the budget."""

    @property
    def all(self) -> int:
        """Cuts at which it was tried."""
        return self.cuts + self.not_run

    @property
    def mean(self) -> float:
        """The mean of all shares."""
        return fmean(self.kept.values()) if self.kept else 0.0


class SessionResult(Struct, frozen=True):
    """One recorded session."""

    name: str
    tool: str
    items: int
    cuts: tuple[CutResult, ...]
    """The cuts at which the window was over the budget."""
    small: int
    """Cuts at which the window fitted: there was nothing to compact."""
    rows: tuple[StrategyScore, ...]


class Recorded(Struct, frozen=True):
    """The whole evaluation."""

    budget: int
    """Tokens that a window may have after a compaction."""
    sessions: tuple[SessionResult, ...]
    unread: tuple[str, ...]
    """A sentence for each file that can't be read."""
    rows: tuple[StrategyScore, ...]
    """Over all cuts, without the recording tools."""
    real: tuple[StrategyScore, ...]
    """Over the cuts where the recording tools compacted, with their own windows; may be empty."""
    verdict: str = ""
    seconds: float = 0.0


def over_all(
    budget: int, sessions: Sequence[SessionResult], unread: Sequence[str], slack: float
) -> Recorded:
    """Sessions together."""
    every = [cut for session in sessions for cut in session.cuts]
    found = rows(every, budget, slack)
    return Recorded(
        budget=budget,
        sessions=tuple(sessions),
        unread=tuple(unread),
        rows=tuple(row for row in found if row.origin != "recording"),
        real=rows([cut for cut in every if cut.real], budget, slack),
    )


def rows(cuts: Iterable[CutResult], budget: int, slack: float) -> tuple[StrategyScore, ...]:
    """A row for each strategy. `slack`: the ratio to the budget up to which a window counts as
    within it."""
    found: dict[str, list[StrategyWindow]] = {}
    for cut in cuts:
        for made in cut.made:
            found.setdefault(made.strategy, []).append(made)
    return tuple(_row(name, some, slack * budget) for name, some in found.items())


def _row(name: str, every: Sequence[StrategyWindow], most: float) -> StrategyScore:
    ran = [made for made in every if not made.not_run]
    return StrategyScore(
        strategy=name,
        origin=every[0].origin,
        cuts=len(ran),
        not_run=len(every) - len(ran),
        kept={
            measure: round(fmean(shares), 4)
            for measure in MEASURES
            if (shares := [made.kept[measure] for made in ran if measure in made.kept])
        },
        tokens=round(fmean(made.tokens for made in ran)) if ran else 0,
        milliseconds=round(median(made.milliseconds for made in ran), 2) if ran else 0.0,
        over=sum(made.tokens > most for made in ran),
    )

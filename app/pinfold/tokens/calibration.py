"""What the providers' reports teach about the estimates made here.

An estimate is off by a constant part (what a server adds without telling: chat template, tools of
its own) and by a proportional part (a tokenizer other than the one that counts). So a report
serves as an anchor, which holds the constant part, and what lies beyond it is scaled by a rate
that the growth from report to report tells.
"""

from msgspec import Struct, field

_HIDDEN = 100_000
"""Tokens that a server may add to a request unseen."""
_FARTHEST = 3
"""The factor by which a report may differ from its estimate and still count."""
_STEEPEST = 2
"""The factor by which two tokenizers may differ."""
_DOUBT = 3_000
"""Tokens of growth after which half of a rate is believed."""
_NEAR = 2
"""The factor by which a window may be larger or smaller than its anchor."""
_KEPT = 64
"""Reports that are remembered, one of each size."""


class ReportedSize(Struct, frozen=True):
    """A request's input tokens, as estimated here and as the provider counted them."""

    estimate: int
    tokens: int


class Learned(Struct):
    """What is known of one model; plain data, for a cache."""

    reports: list[ReportedSize] = field(default_factory=list)
    """The latest of each size, oldest first."""
    estimated: int = 0
    """Growth from report to report, as estimated."""
    counted: int = 0
    """The same growth, as reported."""

    @property
    def rate(self) -> float:
        """Tokens for each token of an estimate."""
        return (self.counted + _DOUBT) / (self.estimated + _DOUBT)

    def learn(self, report: ReportedSize) -> None:
        if self.reports:
            last = self.reports[-1]
            estimated, counted = report.estimate - last.estimate, report.tokens - last.tokens
            if 0 < estimated <= _STEEPEST * counted <= _STEEPEST**2 * estimated:
                self.estimated += estimated
                self.counted += counted
        size = _size(report.estimate)
        others = [earlier for earlier in self.reports if _size(earlier.estimate) != size]
        self.reports = [*others[1 - _KEPT :], report]

    def anchor(self, estimate: int) -> ReportedSize:
        """The latest report, or the one nearest in size to a window that is much larger or
        smaller: after a compaction that is one from when the session was young."""
        last = self.reports[-1]
        if last.estimate <= _NEAR * estimate and estimate <= _NEAR * last.estimate:
            return last
        return min(reversed(self.reports), key=lambda report: abs(report.estimate - estimate))

    def correct(self, estimate: int) -> int:
        least = min(report.estimate for report in self.reports)
        tokens = self._from_anchor(max(estimate, least))
        if estimate < least:
            # What a report has beyond its estimate is constant, or else grows with it: a single
            # one can't tell, and a small window would inherit all that a large one had beyond.
            share = tokens * estimate / least
            believed = self.estimated / (self.estimated + _DOUBT)
            tokens = share + believed * (tokens - self.rate * (least - estimate) - share)
        # Far below every report, the anchor's surplus may be more than there is.
        return max(round(tokens), estimate // _FARTHEST)

    def _from_anchor(self, estimate: int) -> float:
        anchor = self.anchor(estimate)
        return anchor.tokens + self.rate * (estimate - anchor.estimate)


class Calibration(Struct):
    """Corrects estimates by reports, for each model apart; plain data, for a cache."""

    models: dict[str, Learned] = field(default_factory=dict)
    """By `provider/model`."""

    def learn(self, provider: str, model: str, estimate: int, tokens: int) -> bool:
        """Take the report of a request; false if it can't be true and is ignored."""
        if not 0 < estimate <= _FARTHEST * tokens <= _FARTHEST * (_FARTHEST * estimate + _HIDDEN):
            return False
        learned = self.models.setdefault(f"{provider}/{model}", Learned())
        learned.learn(ReportedSize(estimate, tokens))
        return True

    def known(self, provider: str, model: str) -> bool:
        """Whether there was a report."""
        return f"{provider}/{model}" in self.models

    def rate(self, provider: str, model: str) -> float:
        """The provider's tokens for each that is counted here."""
        learned = self.models.get(f"{provider}/{model}")
        return 1.0 if learned is None else learned.rate

    def correct(self, provider: str, model: str, estimate: int) -> int:
        """Input tokens of a whole request, from its estimate."""
        learned = self.models.get(f"{provider}/{model}")
        return estimate if learned is None else learned.correct(estimate)


def _size(estimate: int) -> int:
    """Of the order of an estimate: four sizes from one power of two to the next."""
    octave = max(estimate.bit_length() - 3, 0)
    return 4 * octave + (estimate >> octave)

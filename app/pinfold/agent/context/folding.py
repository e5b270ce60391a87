"""A proposed fold of something before the window, with its price."""

from msgspec import Struct

from pinfold.agent.record import Record
from pinfold.numbers import tokens
from pinfold.rollout.context import Context
from pinfold.sanitize import one_line


class Folding(Struct, frozen=True):
    """A fold that the user has not confirmed yet."""

    name: str
    """`git`, or `git/log` of one tool."""
    folded: bool
    context: Context
    freed: int
    """Tokens of each request; negative where it takes more."""
    lost: int
    """Cached tokens that it invalidates."""

    @property
    def done(self) -> str:
        size = tokens(abs(self.freed))
        done = "Folded" if self.folded else "Unfolded"
        change = "less" if self.freed >= 0 else "more"
        return f"{done} {one_line(self.name)}: {size} tokens {change} in each request."

    @property
    def said(self) -> str:
        change = (
            f"{tokens(self.freed)} tokens less"
            if self.freed >= 0
            else (f"{tokens(-self.freed)} tokens more")
        )
        cache = (
            f"invalidates {tokens(self.lost)} cached tokens"
            if self.lost
            else "nothing is cached yet"
        )
        what = "Folding" if self.folded else "Unfolding"
        return f"{what} {one_line(self.name)}: {change} in each request; {cache}."


def priced(record: Record, name: str, after: Context, *, folded: bool) -> Folding:
    """The fold that makes the context `after`. Slow where servers have many tools."""
    gauge = record.gauge
    freed = gauge.count_context(gauge.context) - gauge.count_context(after)
    lost = gauge.correct(gauge.estimate) if record.state.sent_to else 0
    return Folding(name, folded, after, freed, lost)

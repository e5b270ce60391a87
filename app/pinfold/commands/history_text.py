"""Earlier windows as text, for `/history` and `pinfold history`."""

from collections.abc import Iterator, Sequence

from pinfold.commands.context_text import KINDS
from pinfold.numbers import tokens
from pinfold.rollout.items import Form
from pinfold.sanitize import one_line
from pinfold.window.generations import Difference, Generation, WindowItem
from pinfold.window.reading import GaugeReading

SIGNS: dict[Form | None, str] = {
    "full": " ",
    "short": "◑",
    "masked": "◐",
    "placeholder": "○",
    None: "-",
}
FORMS: dict[Form | None, str] = {
    "full": "in full",
    "short": "shortened",
    "masked": "masked",
    "placeholder": "folded",
}
_WORDS = 72


def windows(found: Sequence[Generation]) -> Iterator[str]:
    """A line for each window, oldest first."""
    yield f"{'window':>6}  {'since':<16}  {'by':<22}  {'items':>6}  tokens"
    for past in found:
        since = f"{past.since.astimezone():%Y-%m-%d %H:%M}" if past.since else ""
        by = ", ".join(one_line(part) for part in (past.reason, past.strategy) if part) or "start"
        sizes = f"{past.tokens.before:,} → {past.tokens.after:,}" if past.tokens else "–"
        now = "(now)" if past is found[-1] else ""
        line = f"{past.generation:>6}  {since:<16}  {by:<22}  {past.items:>6,}  {sizes} {now}"
        yield line.rstrip()


def standing(items: Sequence[WindowItem]) -> Iterator[str]:
    """A line for each item of one window."""
    for item in items:
        yield f"{SIGNS[item.form]} {_item(item)}"


def differences(items: Sequence[Difference]) -> Iterator[str]:
    """Items added, removed and changed, one line each."""
    yield counts(items)
    for item in items:
        sign = "-" if item.after is None else "+" if item.before is None else "~"
        how = f"  ({FORMS[item.before]} → {FORMS[item.after]})" if sign == "~" else ""
        yield f"{sign} {_item(item)}{how}"


def counts(items: Sequence[Difference]) -> str:
    """How many items were added, removed and changed."""
    gone = sum(item.after is None for item in items)
    came = sum(item.before is None for item in items)
    return f"{gone:,} removed; {came:,} added; {len(items) - gone - came:,} changed"


def fits(reading: GaugeReading) -> str:
    """The window's tokens, and whether they fit into a request."""
    used = f"{tokens(reading.used)} of {tokens(reading.limit)} tokens"
    over = reading.used - reading.usable
    if over <= 0:
        return f"{used}."
    return f"{used}, {tokens(over)} more than fit: compact it before you continue."


def _item(entry: WindowItem | Difference) -> str:
    words = one_line(f"{entry.name} {entry.words}", _WORDS)
    return f"{f'#{entry.n}':>7}  {KINDS[entry.kind]:<10}  {words}".rstrip()

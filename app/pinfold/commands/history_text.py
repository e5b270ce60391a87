"""Earlier windows in words: what `/history` and `pinfold history` say."""

from collections.abc import Iterator, Sequence

from pinfold.commands.context_text import KINDS
from pinfold.numbers import tokens
from pinfold.rollout.items import Form
from pinfold.sanitize import one_line
from pinfold.window.generations import Difference, Generation, Standing
from pinfold.window.reading import Reading

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
    for each in found:
        since = f"{each.since.astimezone():%Y-%m-%d %H:%M}" if each.since else ""
        by = ", ".join(one_line(part) for part in (each.reason, each.strategy) if part) or "start"
        sizes = f"{each.tokens.before:,} → {each.tokens.after:,}" if each.tokens else "–"
        now = "(now)" if each is found[-1] else ""
        line = f"{each.generation:>6}  {since:<16}  {by:<22}  {each.items:>6,}  {sizes} {now}"
        yield line.rstrip()


def standing(items: Sequence[Standing]) -> Iterator[str]:
    """A line for each item of one window."""
    for each in items:
        yield f"{SIGNS[each.form]} {_item(each)}"


def differences(items: Sequence[Difference]) -> Iterator[str]:
    """What came, what went, and what stands otherwise."""
    yield counts(items)
    for each in items:
        sign = "-" if each.after is None else "+" if each.before is None else "~"
        how = f"  ({FORMS[each.before]} → {FORMS[each.after]})" if sign == "~" else ""
        yield f"{sign} {_item(each)}{how}"


def counts(items: Sequence[Difference]) -> str:
    """How many items came, went, and stand otherwise."""
    gone = sum(each.after is None for each in items)
    came = sum(each.before is None for each in items)
    return f"gone {gone:,}; new {came:,}; otherwise {len(items) - gone - came:,}"


def fits(reading: Reading) -> str:
    """Whether the next request can carry the window."""
    used = f"{tokens(reading.used)} of {tokens(reading.limit)} tokens"
    over = reading.used - reading.usable
    if over <= 0:
        return f"{used}."
    return f"{used}, {tokens(over)} more than fit: compact it before you go on."


def _item(each: Standing | Difference) -> str:
    said = one_line(f"{each.name} {each.words}")
    said = said if len(said) <= _WORDS else said[: _WORDS - 1] + "…"
    return f"{f'#{each.n}':>7}  {KINDS[each.kind]:<10}  {said}".rstrip()

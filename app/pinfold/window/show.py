"""How items appear in a request: in full, masked, or as the line that replaces folded ones."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from msgspec.structs import replace

from pinfold.rollout.atoms import response_of
from pinfold.rollout.items import Form, Item
from pinfold.window import placeholders
from pinfold.window.masked_text import masked
from pinfold.window.placeholders import ItemSource


@dataclass(frozen=True, slots=True)
class Shown:
    """An item as the request carries it."""

    item: Item
    stands_for: tuple[int, ...]
    """The folded items, if it is their placeholder; else its own number."""
    form: Form


def show(forms: Mapping[int, Form], source: ItemSource) -> Iterator[Shown]:
    """The items in the order and the forms given, placeholders in place."""
    run: list[int] = []
    for _, group in groupby(forms, lambda n: response_of(source[n]) or -n):
        atom = list(group)
        kept = [n for n in atom if is_sent(n, forms, source)]
        if kept and run:
            yield _placeholder(run, source)
            run = []
        for n in kept:
            yield body(n, forms[n], source)
        # Never between the parts of one response: providers need those together.
        run += [n for n in atom if n not in kept]
    if run:
        yield _placeholder(run, source)


def is_sent(n: int, forms: Mapping[int, Form], source: ItemSource) -> bool:
    """Whether item `n` is sent: a call and its result always go together."""
    partner = source.partner(n)
    other = "full" if partner is None else forms.get(partner, "placeholder")
    return forms[n] != "placeholder" and other != "placeholder"


def body(n: int, form: Form, source: ItemSource) -> Shown:
    """An item that is sent."""
    item, partner = source[n], source.partner(n)
    if item.kind == "tool_result" and partner is None:
        item = replace(item, kind="context", call_id=None)  # no call to send it with
    text = smaller(item, form, None if partner is None else source[partner])
    if text is None:
        return Shown(item, (n,), "full")
    return Shown(replace(item, content=text, images=()), (n,), form)


def smaller(item: Item, form: Form, partner: Item | None) -> str | None:
    """The content of an item in that form, given its other half; None where it stays in full."""
    match form:
        case "masked":
            return masked(item, partner)
        case "short" if item.kind == "tool_result":
            return placeholders.shortened(item)
        case _:
            return None


def _placeholder(numbers: Iterable[int], source: ItemSource) -> Shown:
    stands_for = tuple(numbers)
    text = placeholders.folded(stands_for, source)
    item = Item(n=stands_for[0], kind="context", content=text)
    return Shown(item, stands_for, "placeholder")

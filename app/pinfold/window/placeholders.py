"""What the model reads in place of folded and shortened items. Each says how to recall them."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from pinfold.rollout.items import Item

_SNIPPET = 60
"""Characters of a folded item's own text."""
_FIRST_LINE, _END = 300, 900
"""Characters of a shortened result."""
_FILES = 3
"""Files that a line names."""
_WORDS = {
    "user": ("user message", "user messages"),
    "assistant": ("reply", "replies"),
    "reasoning": ("thought", "thoughts"),
    "tool_call": ("call", "calls"),
    "tool_result": ("result", "results"),
}


class ItemSource(Protocol):
    """The source of items: a session's archive, or a planned window."""

    def __getitem__(self, n: int, /) -> Item: ...

    def partner(self, n: int, /) -> int | None:
        """The other half of a call and its result."""
        ...

    def files(self, n: int, /) -> tuple[str, ...]:
        """The files that the item concerns."""
        ...


def shortened(result: Item) -> str:
    """Its first line and its end, where failures are; all of it if that is no shorter."""
    text = result.content.strip("\n")
    head = text.split("\n", 1)[0][:_FIRST_LINE]
    end = text[-_END:]
    if len(text) <= len(head) + len(end) + _SNIPPET:
        return result.content
    left = len(text) - len(head) - len(end)
    return f"{head}\n[… {left:,} characters left out; recall({result.n}) brings them back …]\n{end}"


def folded(numbers: Sequence[int], archive: ItemSource) -> str:
    """One line for a run of folded items."""
    numbers = sorted(numbers)
    items = [archive[n] for n in numbers]
    told = [item for item in items if item.kind != "reasoning"] or items
    way = str(told[0].n)
    match told:
        case [item]:
            what = f"{_plural(item.kind, 1)}{_quoted(item.content)}"
        case [call, result] if archive.partner(call.n) == result.n:
            # The call's number brings its result too.
            what = f"{call.name}{_quoted(str(result.detail.get('title') or call.content))}"
        case _:
            what = _counted(told, archive)
            way = f'"{numbers[0]}..{numbers[-1]}"'
    names = ranges(numbers).replace(", ", ", #")
    return f"[#{names} folded: {what}. recall({way}) brings it back.]"


def ranges(numbers: Sequence[int]) -> str:
    """`3, 5..9`: ascending numbers, neighbours together."""
    found: list[list[int]] = []
    for n in numbers:
        if found and n == found[-1][1] + 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}..{b}" for a, b in found)


def _counted(items: Iterable[Item], archive: ItemSource) -> str:
    counts: dict[str, int] = {}
    files: dict[str, None] = {}
    for item in items:
        files.update(dict.fromkeys(archive.files(item.n)))
        # A result is not counted beside its call.
        if item.kind != "tool_result" or archive.partner(item.n) is None:
            counts[item.kind] = counts.get(item.kind, 0) + 1
    said = ", ".join(_plural(kind, count) for kind, count in counts.items())
    names = list(files)
    more = f" and {len(names) - _FILES} more" if len(names) > _FILES else ""
    said = said or "results"
    return said + (f"; {', '.join(names[:_FILES])}{more}" if names else "")


def _plural(kind: str, count: int) -> str:
    one, many = _WORDS.get(kind, (kind, f"{kind}s"))
    return one if count == 1 else f"{count} {many}"


def _quoted(text: str) -> str:
    words = " ".join(text[: 4 * _SNIPPET].split())
    if len(words) > _SNIPPET:
        words = words[: _SNIPPET - 1] + "…"
    return f" “{words}”" if words else ""

"""What the model reads in place of a masked body: the outcome, and how to recall the body."""

import json
from collections.abc import Iterable
from typing import Any

from pinfold.rollout.acts import Act, act
from pinfold.rollout.arguments import parsed
from pinfold.rollout.items import Item
from pinfold.sanitize import one_line

_TITLE, _SAID = 120, 100
"""Characters of the title, and of the outcome."""
_FRAME = "=-*#_~ "
"""What tools draw around the line that sums up a run."""


def masked(item: Item, partner: Item | None) -> str | None:
    """The content of a result or a call without its body, given its other half; None if it has no
    body to mask."""
    match item.kind:
        case "tool_result":
            return _masked_result(item, partner)
        case "tool_call" if partner is not None:
            return _masked_call(item, partner)
        case _:
            return None


def _masked_result(result: Item, call: Item | None) -> str:
    """`[#80 $ pytest -q: exit 1, 3 failed; 96 lines; recall {"id": 80}]`."""
    did = act(call, result)
    title = _cut(did.title if did else "", _TITLE) or result.name or "result"
    told = [_outcome(did, result) if did else "", _size(result), _recall_call(result)]
    return f"[#{result.n} {title}: {'; '.join(filter(None, told))}]"


def _masked_call(call: Item, result: Item) -> str | None:
    """Its arguments, still a JSON object, with the length of each body in its place."""
    did, given = act(call, result), parsed(call.content)
    if did is None or given is None:
        return None
    if did.bodies is None:  # journals of older versions and other tools' sessions do not say
        kept = _without(given, call, least=2) if did.kind == "edit" else given
    else:
        kept = {
            name: _without(value, call, least=1) if name in did.bodies else value
            for name, value in given.items()
        }
    try:
        return None if kept == given else json.dumps(kept, allow_nan=False)
    except ValueError:  # infinity is no JSON
        return None


def _without(value: Any, call: Item, least: int) -> Any:
    """The value, its texts of at least `least` lines replaced where that is shorter."""
    match value:
        case str():
            lines = value.count("\n") + 1
            text = f"[masked: {_lines(lines)}; {_recall_call(call)}]"
            return text if lines >= least and len(text) < len(value) else value
        case dict():
            return {name: _without(inner, call, least) for name, inner in value.items()}
        case list():
            return [_without(inner, call, least) for inner in value]
        case _:
            return value


def _outcome(did: Act, result: Item) -> str:
    """`exit 1, 3 failed`: a few words, or none."""
    if result.state == "interrupted":
        return "interrupted"
    if result.state == "unknown":
        return "unknown whether it ran"
    if did.kind == "refused":
        return _cut(", ".join(filter(None, ("refused", one_line(did.words)))), _SAID)
    if did.kind == "command" and did.exit_code is not None:
        # Tools sum up in their last line.
        summary = _first_words(reversed(did.text.splitlines()))
        return ", ".join(filter(None, (f"exit {did.exit_code}", summary)))
    if not did.ok:
        return ", ".join(filter(None, ("failed", _first_words(did.text.splitlines()))))
    return f"+{did.added} -{did.removed}" if did.kind == "edit" else ""


def _first_words(lines: Iterable[str]) -> str:
    """The first line that says anything, cut."""
    told = (one_line(line).strip(_FRAME) for line in lines)
    return _cut(next(filter(None, told), ""), _SAID)


def _size(result: Item) -> str:
    pictures = len(result.images)
    shown = [f"{pictures} picture{'s' * (pictures > 1)}"] if pictures else []
    if result.content or not shown:
        shown.append(_lines(result.content.count("\n") + 1))
    return ", ".join(shown)


def _lines(count: int) -> str:
    return f"{count:,} line{'s' * (count > 1)}"


def _recall_call(item: Item) -> str:
    return f'recall {{"id": {item.n}}}'


def _cut(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"

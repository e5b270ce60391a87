"""Compacts OpenAI messages, or makes a digest of them: no session, no model, no network."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from pinfold.adopt.adoption import NotASession
from pinfold.adopt.messages import is_message, read_document
from pinfold.agent.projections import folded
from pinfold.compaction.engine import plan_with
from pinfold.compaction.plan import CompactionPlan
from pinfold.compaction.refusals import Impossible, NoGain
from pinfold.compaction.rendering import rendered, rendered_now
from pinfold.compaction.report import DryRunReport, report_of
from pinfold.compaction.strategies.registry import registry, traits
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.digests.choice import text_of
from pinfold.digests.lines import Kind
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.events import Event, ItemAdded, Pin, PinsChanged
from pinfold.rollout.items import Item
from pinfold.thinning import Thinner
from pinfold.tokens.catalog import O200K
from pinfold.tokens.counter import Counter
from pinfold.window.show import Shown
from pinfold.wire.arguments import as_object

__all__ = ["CompactionResult", "Digest", "Impossible", "Line", "compact", "digest"]

Message = dict[str, Any]

_EPOCH = 1_700_000_000
"""Seconds since 1970. Each message gets its own time, by which its items find it."""

_PRUNED_TAIL = 12
"""Items at the end that `prune` leaves alone."""


class CompactionResult(Struct, frozen=True):
    messages: list[Message]
    """Ready to be sent. Messages that stay are the same objects as those given."""
    before: int
    """Tokens."""
    after: int
    report: DryRunReport | None
    """What became of each item; None if all messages fit as they are."""


class Line(Struct, frozen=True):
    """A line of a digest."""

    message: int
    """The index of the message that it comes from."""
    kind: Kind
    text: str


class Digest(Struct, frozen=True):
    """Messages thinned: words of the user and the agent, edits, commands and failures, word for
    word and in order."""

    text: str
    """The lines as a model reads them; `#7` marks those of `messages[7]`."""
    tokens: int
    """Of the text, in o200k."""
    lines: tuple[Line, ...]
    left_out: tuple[Line, ...]
    """The lines that had no room."""


def digest(messages: Sequence[Message], budget_tokens: int = 8_000) -> Digest:
    """What was said and done in chat messages, or in items of the Responses API, in at most
    `budget_tokens`.

    The same messages give the same bytes. Secrets stay in: the digest goes where the messages went.
    Raises `ValueError` if something in `messages` is not a message.
    """
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or not is_message(message):
            raise ValueError(
                f"messages[{index}] is neither a message nor an item of the Responses API."
            )
    events = _events(messages) if messages else []
    indexes = {
        event.data.item.n: _index(event.ts) for event in events if isinstance(event.data, ItemAdded)
    }
    thinned = Thinner(events, indexes).thin(budget_tokens, redact=False)
    chosen = thinned.digest
    return Digest(
        thinned.text,
        thinned.tokens,
        tuple(Line(line.n, line.kind, text_of(chosen, at)) for at, line in enumerate(chosen.lines)),
        tuple(Line(line.n, line.kind, line.lead + line.text) for line in chosen.left),
    )


def compact(
    messages: Sequence[Message],
    *,
    budget_tokens: int,
    strategy: str = "checkpoint",
    pins: Sequence[Pin] = (),
) -> CompactionResult:
    """Chat messages of at most `budget_tokens` that say what all of them said.

    `pins` are indexes into `messages`, or globs of files. Raises `Impossible` if the system
    message, pins and the latest request exceed the budget, and `ValueError` if something in
    `messages` is not a message, or the strategy is unknown or needs a model.
    """
    _check(messages, strategy)
    own = registry().strategies[strategy]
    view = _read(messages, budget_tokens, pins)
    before = view.context_tokens + view.tokens
    if before <= budget_tokens:
        return CompactionResult(list(messages), before, before, None)
    options = PlanOptions(
        target_pct=1.0,
        min_headroom_tokens=0,
        max_tail_messages=_PRUNED_TAIL if traits(strategy).leaves_tail else len(view.entries),
        filled=1.0,
        numbered=False,
    )
    try:
        plan = plan_with(own.name, view, Material(), options)
    except NoGain as refused:
        raise Impossible(
            [("what can be left out is smaller than its placeholder", before)], budget_tokens
        ) from refused
    after = plan.sizes.context + plan.sizes.after
    return CompactionResult(
        list(_Writer(messages, view).write(plan)), before, after, report_of(view, plan)
    )


def _check(messages: Sequence[Message], strategy: str) -> None:
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ValueError(f"messages[{index}] is not a chat message: it has no role.")
    known = registry().strategies
    if strategy not in known:
        raise ValueError(f"There is no strategy {strategy}. There are: {', '.join(known)}.")
    if known[strategy].needs_model:
        raise ValueError(f"The strategy {strategy} needs a model; this works without.")


@cache
def _counter() -> Counter:
    counter = Counter(O200K)
    counter.load()
    return counter


def _read(messages: Sequence[Message], budget: int, pins: Sequence[Pin]) -> WindowView:
    """The messages as a window of a model that takes `budget` tokens."""
    events = _events(messages)
    pinned = _pins(messages, events, pins)
    events.append(Event(events[-1].seq + 1, events[-1].ts, PinsChanged(add=pinned)))
    model = ModelInfo("", "", budget, "config", max_output=0)
    return folded(events, _counter(), "chat").view(model)


def _events(messages: Sequence[Message]) -> list[Event]:
    """The messages as a session, each at a time of its own. Raises `ValueError`."""
    timed = [{**message, "timestamp": _EPOCH + index} for index, message in enumerate(messages)]
    began = datetime.fromtimestamp(_EPOCH, UTC)
    try:
        return list(read_document(timed, Path("messages"), began).events)
    except NotASession as error:
        raise ValueError(str(error)) from error


def _pins(
    messages: Sequence[Message], events: Sequence[Event], pins: Sequence[Pin]
) -> tuple[Pin, ...]:
    """Pins on messages as pins on their items."""
    indexes = {pin % len(messages) for pin in pins if isinstance(pin, int)}
    numbers = [
        event.data.item.n
        for event in events
        if isinstance(event.data, ItemAdded) and _index(event.ts) in indexes
    ]
    return (*numbers, *(pin for pin in pins if isinstance(pin, str)))


def _index(at: datetime) -> int:
    return int(at.timestamp()) - _EPOCH


class _Writer:
    """A planned window as messages."""

    def __init__(self, messages: Sequence[Message], view: WindowView) -> None:
        self._messages = messages
        self._of = {e.item.n: _index(e.at) for e in view.entries}
        self._view = view
        self._whole: dict[int, list[Shown]] = {}
        for shown in rendered_now(view):
            self._whole.setdefault(self._of[shown.item.n], []).append(shown)

    def write(self, plan: CompactionPlan) -> Iterator[Message]:
        first = min(self._whole, default=0)
        yield from self._messages[:first]
        shown = rendered(self._view, plan.window, plan.inserted)
        results = {
            (s.item.response, s.item.call_id): s for s in shown if s.item.kind == "tool_result"
        }
        groups: dict[int, list[Shown]] = {}
        """By message; an inserted item is a group of its own."""
        for at, entry in enumerate(shown):
            if entry.item.kind != "tool_result":
                key = self._of[entry.item.n] if entry.item.n in self._of else -1 - at
                groups.setdefault(key, []).append(entry)
        for index, group in groups.items():
            yield self._message(index, group)
            for entry in group:
                if entry.item.kind == "tool_call":
                    result = results[entry.item.response, entry.item.call_id]
                    yield self._result(result)

    def _message(self, index: int, group: list[Shown]) -> Message:
        if index >= 0 and self._is_whole(index, group):
            return self._messages[index]
        calls = [entry.item for entry in group if entry.item.kind == "tool_call"]
        text = "\n\n".join(
            entry.item.content
            for entry in group
            if entry.item.kind not in ("tool_call", "reasoning") and entry.item.content
        )
        if calls:
            return {
                "role": "assistant",
                "content": text or None,
                "tool_calls": [_call(call) for call in calls],
            }
        role = "assistant" if group[0].item.kind == "assistant" else "user"
        return {"role": role, "content": text}

    def _is_whole(self, index: int, group: list[Shown]) -> bool:
        message = self._messages[index]
        same = [s for s in self._whole[index] if s.item.kind != "tool_result"] == group
        ids = [call.get("id") for call in message.get("tool_calls") or ()]
        calls = [entry.item.call_id for entry in group if entry.item.kind == "tool_call"]
        return same and ids == calls and group[0].form == "full"

    def _result(self, shown: Shown) -> Message:
        item = shown.item
        message = self._messages[self._of[item.n]]
        own = message["role"] == "tool" and message.get("tool_call_id") == item.call_id
        if own and shown.form == "full":
            return message
        return {"role": "tool", "tool_call_id": item.call_id, "content": item.content}


def _call(call: Item) -> Message:
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.name or "", "arguments": as_object(call.content)},
    }

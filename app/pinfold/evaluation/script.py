"""Writes a conversation as the events of a session's rollout."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import structs

from pinfold.checkpoint.proposals import judge, reply
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.evaluation.filler import ToolUse
from pinfold.rollout.events import Data, Event, ItemAdded, TurnStarted
from pinfold.rollout.items import Item

GAP = 1_000
"""Item numbers left free after each stretch, for what a compaction inserts."""
_ACTS = {
    "shell": "command",
    "write_file": "edit",
    "read_file": "read",
    "grep": "read",
    "list_dir": "read",
}
"""The `act` of results, as pinfold's tools set it."""
START = datetime(2026, 1, 5, 9, tzinfo=UTC)

Count = Callable[[str], int]


def at(seq: int) -> datetime:
    """The time of event `seq`."""
    return START + timedelta(seconds=7 * seq)


class Script:
    """Numbers items, turns and responses, and judges what the agent records as the host does."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._events: list[Data] = []
        self._items: dict[int, Item] = {}
        self._checkpoint = CheckpointState()
        self._seq = self._n = self._turn = self._response = 0
        self.user_tokens = 0

    def begin(self) -> None:
        """Begin a stretch."""
        self._events.clear()
        self.user_tokens = 0
        self._n += GAP if self._n else 0

    def taken(self) -> list[Data]:
        """The events of the stretch."""
        return list(self._events)

    def ask(self, text: str) -> None:
        self._turn += 1
        self._add(TurnStarted(turn=self._turn))
        self.user_tokens += self._count(text)
        self._item(Item(n=self._next(), kind="user", content=text, turn=self._turn))

    def say(self, text: str, uses: Sequence[ToolUse] = ()) -> None:
        """The agent replies, and uses tools."""
        self._response += 1
        turn, response = self._turn, self._response
        if text:
            said = Item(
                n=self._next(), kind="assistant", content=text, turn=turn, response=response
            )
            self._item(said)
        calls = [
            Item(
                n=self._next(),
                kind="tool_call",
                content=use.arguments,
                turn=turn,
                response=response,
                call_id=f"call_{response}_{number}",
                name=use.name,
            )
            for number, use in enumerate(uses)
        ]
        for call in calls:
            self._item(call)
        for call, use in zip(calls, uses, strict=True):
            result = _result(call, use, self._next())
            self._item(result)
            if use.seen is not None:
                self._add(structs.replace(use.seen, item=result.n))

    def remember(self, proposal: dict[str, object]) -> None:
        """The agent records something; the host judges it."""
        payload = json.dumps(proposal, ensure_ascii=False)
        judged = judge(payload, self._checkpoint, self._items.get)
        self.say("", [ToolUse("memory_apply", payload, reply(judged))])
        self._add(judged)

    def _item(self, item: Item) -> None:
        self._items[item.n] = item
        self._add(ItemAdded(item=item))

    def _next(self) -> int:
        self._n += 1
        return self._n

    def _add(self, data: Data) -> None:
        self._seq += 1
        self._events.append(data)
        self._checkpoint.step(Event(self._seq, at(self._seq), data))


def _result(call: Item, use: ToolUse, n: int) -> Item:
    return Item(
        n=n,
        kind="tool_result",
        content=use.output,
        turn=call.turn,
        response=call.response,
        call_id=call.call_id,
        detail={"ok": True, "act": _ACTS[use.name]} if use.name in _ACTS else {"ok": True},
    )

"""Calls and their results: no window has one without the other."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from pinfold.rollout.items import Item

Key = tuple[int, str | None]
"""Response and call id."""

NO_RESULT = "The original session has no result for this call."
NO_CALL = "[A tool result whose call is missing from the original session]"


def key(item: Item) -> Key:
    return item.response, item.call_id


def unknown_result(call: Item) -> Item:
    """A new result for a call that has none."""
    return Item(
        n=0,
        kind="tool_result",
        content=NO_RESULT,
        turn=call.turn,
        response=call.response,
        call_id=call.call_id,
        name=call.name,
        state="unknown",
        detail={"ok": False},
    )


def lone_result(result: Item) -> Item:
    """A result without its call, as an item that can stand alone."""
    text = f"{NO_CALL}\n{result.content}"
    return replace(result, kind="context", content=text, response=0, call_id=None)


class OpenCalls:
    """Calls that wait for their results, by the id that they came with."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Item]] = {}
        self._keys: set[Key] = set()

    def distinct(self, call: Item) -> Item:
        """The call, with another id if its own is missing or taken."""
        call_id = call.call_id or f"call_{call.n}"
        while (call.response, call_id) in self._keys:
            call_id = f"{call_id}~{len(self._keys)}"
        self._keys.add((call.response, call_id))
        return call if call_id == call.call_id else replace(call, call_id=call_id)

    def open(self, call: Item) -> Item:
        """Add an open call, and return it with a distinct id."""
        opened = self.distinct(call)
        self._waiting.setdefault(call.call_id or opened.call_id or "", []).append(opened)
        return opened

    def answer(self, call_id: str | None) -> Item | None:
        """The call that a result belongs to: the first open one of the newest response with that
        id."""
        waiting = self._waiting.get(call_id or "")
        if not waiting:
            return None
        call = next(call for call in waiting if call.response == waiting[-1].response)
        waiting.remove(call)
        return call

    def oldest(self) -> str | None:
        """The id of the call that has waited longest."""
        calls = [(waiting[0].n, call_id) for call_id, waiting in self._waiting.items() if waiting]
        return min(calls)[1] if calls else None

    def take(self) -> list[Item]:
        """Remove and return the open calls, oldest first."""
        left = [call for calls in self._waiting.values() for call in calls]
        self._waiting.clear()
        return sorted(left, key=lambda call: call.n)


class Whole:
    """Completes the entries of a window, so that every call has its result.

    A call and its result belong together for good: if a window pairs one of them with something
    else, it gets copies. New items have `n` 0.
    """

    def __init__(self, distinct: Callable[[Item], Item], result_of: Callable[[int], Item]) -> None:
        self._distinct = distinct
        self._result_of = result_of
        self._found: list[Item] = []
        self._waiting: dict[str, list[int]] = {}
        """Places in `_found` of calls without a result, by call id."""

    def window(self, entries: Iterable[Item]) -> list[Item]:
        for entry in entries:
            match entry.kind:
                case "tool_call":
                    self._waiting.setdefault(entry.call_id or "", []).append(len(self._found))
                    self._found.append(entry if entry.n else self._distinct(entry))
                case "tool_result":
                    self._answer(entry)
                case _:
                    self._found.append(entry)
        alone = {at for places in self._waiting.values() for at in places}
        completed: list[Item] = []
        for at, item in enumerate(self._found):
            completed.append(item)
            if at in alone:
                completed.append(self._result_of(item.n) if item.n else unknown_result(item))
        return completed

    def _answer(self, result: Item) -> None:
        places = self._waiting.get(result.call_id or "", [])
        if not places:
            self._found.append(replace(lone_result(result), n=0))
            return
        same = (at for at in places if self._found[at].response == result.response)
        at = next(same, places[0])
        places.remove(at)
        call = self._found[at]
        if call.n and self._result_of(call.n).n == result.n:
            self._found.append(result)
            return
        if call.n:
            call = self._found[at] = self._distinct(replace(call, n=0))
        self._found.append(answering(result, call))


def answering(result: Item, call: Item) -> Item:
    """A new result for `call`."""
    return replace(
        result,
        n=0,
        turn=call.turn,
        response=call.response,
        call_id=call.call_id,
        name=result.name or call.name,
    )

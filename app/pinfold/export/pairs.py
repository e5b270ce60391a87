"""Any items in a form that a request can carry: every call has one result."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from pinfold.rollout.items import Item

_NONE = "[No result.]"

_Key = tuple[int, str | None]


def whole(items: Iterable[Item]) -> Iterator[Item]:
    """`items` in order, with distinct call ids and a result for each call; other results become
    text."""
    distinct = list(_with_distinct_ids(items))
    answered = {_key(item) for item in distinct if item.kind == "tool_result"}
    for item in distinct:
        yield item
        if item.kind == "tool_call" and _key(item) not in answered:
            yield replace(item, kind="tool_result", content=_NONE, state="unknown", detail={})


def _with_distinct_ids(items: Iterable[Item]) -> Iterator[Item]:
    ids: set[_Key] = set()
    waiting: dict[_Key, list[str]] = {}
    """The new ids of open calls, by the old id."""
    for item in items:
        key = _key(item)
        if item.kind == "tool_call":
            call_id = item.call_id
            if not call_id or key in ids:
                call_id = f"{call_id or 'call'}_{item.n}"
            ids.add((item.response, call_id))
            waiting.setdefault(key, []).append(call_id)
            yield replace(item, call_id=call_id)
        elif item.kind == "tool_result":
            if calls := waiting.get(key):
                yield replace(item, call_id=calls.pop(0))
            else:
                yield replace(item, kind="context", call_id=None)
        else:
            yield item


def _key(item: Item) -> _Key:
    return item.response, item.call_id

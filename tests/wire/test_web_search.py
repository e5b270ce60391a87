"""The provider's own web search, over the Responses API."""

import json
from typing import Any

from fakes.windows import MODEL, OTHER, OWN
from pinfold.agent.calls.toolbox import Toolbox
from pinfold.ports.provider import Delta, PartDone, Progress
from pinfold.rollout.context import Context
from pinfold.rollout.items import Item
from pinfold.tools.registry import Web, tools
from pinfold.wire.chat import render as chat
from pinfold.wire.errors import ApiServer
from pinfold.wire.responses import render as responses
from pinfold.wire.responses.stream import ResponsesStream

CALL = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "textual 8 changes"},
}


def told(web: Web | None) -> Toolbox:
    return Toolbox(tools(web=web), lambda _: None, ())


def fed(kind: str, **fields: Any) -> list[Delta]:
    stream = ResponsesStream(ApiServer("https://api.example"))
    return stream.feed(json.dumps({"type": kind, **fields}).encode())


def test_it_is_told_where_it_is_switched_on_and_the_wire_has_it() -> None:
    on = Context(tools=tuple(told(Web(search=True)).schemas("responses")))
    assert {"type": "web_search"} in responses.tools(on)
    for off in (told(Web(search=True)).schemas("chat"), told(Web()).schemas("responses")):
        assert "web_search" not in [schema.name for schema in off]
    assert "web_search" not in str(chat.tools(on))


def test_a_search_is_shown_while_it_runs_and_kept_as_a_part_of_the_reply() -> None:
    assert fed("response.output_item.added", item=CALL) == [Progress("searching the web")]
    assert fed("response.output_item.done", item=CALL) == [
        PartDone("reasoning", "Searched the web: textual 8 changes", foreign_id="ws_1", opaque=CALL)
    ]
    opened = {**CALL, "action": {"type": "open_page", "url": "https://a.example"}}
    [part] = fed("response.output_item.done", item=opened)
    assert isinstance(part, PartDone)
    assert part.content == "Opened https://a.example"


def test_it_goes_back_to_its_own_model_alone() -> None:
    answer = Item(n=2, kind="assistant", content="Yes.", response=1, origin=OWN)

    def sent(origin: Any) -> list[Any]:
        search = Item(n=1, kind="reasoning", response=1, origin=origin, opaque=CALL)
        return responses.input_items([search, answer], MODEL)

    assert sent(OWN)[0] == CALL
    assert [entry["type"] for entry in sent(OTHER)] == ["message"]

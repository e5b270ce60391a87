import asyncio
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.ports.tool import ToolContext, ToolError, ToolOutcome
from pinfold.rollout.items import Image, Item
from pinfold.tools.archive_index import ArchiveIndex
from pinfold.tools.output import CAP
from pinfold.tools.recall import MAX_FOUND, PREFACE, Recall
from pinfold.tools.snippets import WIDTH, head, snippet, tail

LONG = "\n".join(f"line {n}" for n in range(10_000))


@dataclass
class Session:
    """A `ports.History` of items, of which those in `view` are not hidden."""

    items: Sequence[Item]
    view: frozenset[int] = frozenset()

    def item(self, n: int) -> Item | None:
        return next((item for item in self.items if item.n == n), None)

    def partner(self, n: int) -> int | None:
        item = self.item(n)
        if item is None or item.call_id is None:
            return None
        both = [shown_item.n for shown_item in self.items if shown_item.call_id == item.call_id]
        return next((number for number in both if number != n), None)

    def hidden(self) -> list[int]:
        return [item.n for item in self.items if item.n not in self.view]


def ran(n: int, command: str, output: str, turn: int = 3) -> tuple[Item, Item]:
    """A call and its result."""
    both = {"name": "shell", "call_id": f"c{n}", "turn": turn}
    call = Item(n=n, kind="tool_call", content=json.dumps({"command": command}), **both)  # type: ignore[arg-type]
    return call, Item(n=n + 1, kind="tool_result", content=output, **both)  # type: ignore[arg-type]


SESSION = Session(
    [
        Item(n=1, kind="user", content="Fix the login, but keep Python 3.9.", turn=1),
        *ran(2, "pytest -k login", "E  AssertionError: 401 != 200\ntests/test_login.py:42"),
        Item(n=4, kind="assistant", content="We decided on caching in UserStore.", turn=3),
        *ran(5, "cat src/app.py", "def get_user(user_id):\n    return parseConfigFile()"),
        Item(n=7, kind="user", content="See #1234, 缓存策略已经改变了", turn=4),
    ]
)


@pytest.fixture
def recall(context: ToolContext) -> Any:
    async def call(session: Session, tool: Recall | None = None, **arguments: Any) -> ToolOutcome:
        tool = tool or Recall(session)
        written = json.dumps(arguments)
        tool.review(written, context)
        return await tool.run(written, context)

    return call


def shown(outcome: ToolOutcome) -> str:
    """The output behind its first line."""
    preface, _, rest = outcome.output.partition("\n\n")
    assert preface == PREFACE
    return rest


def found(outcome: ToolOutcome) -> list[str]:
    """The matches of a search."""
    return outcome.output.split("\n\n")[1:]


@pytest.mark.parametrize("half", [2, 3, "2", "#3"])
async def test_either_half_brings_back_the_call_and_its_result(recall: Any, half: object) -> None:
    outcome = await recall(SESSION, id=half)
    assert shown(outcome) == (
        '#2 call of shell, turn 3:\n{"command": "pytest -k login"}\n\n'
        "#3 result of shell, turn 3:\nE  AssertionError: 401 != 200\ntests/test_login.py:42"
    )
    assert outcome.detail == {"items": [2, 3]}


@pytest.mark.parametrize("id", ["3..5", "#3..#5", "5..3", "3-5", "3, 4..5"])
async def test_a_range_comes_whole_and_each_item_once(recall: Any, id: str) -> None:  # noqa: A002
    assert (await recall(SESSION, id=id)).detail == {"items": [2, 3, 4, 5, 6]}


async def test_items_still_in_view_come_too_and_say_who_spoke(recall: Any) -> None:
    session = Session(SESSION.items, frozenset(range(1, 8)))
    assert shown(await recall(session, id=1)).startswith("#1 user, turn 1:\nFix the login")


async def test_a_range_that_goes_too_far_says_where_it_ends(recall: Any) -> None:
    assert shown(await recall(SESSION, id="7..999999999")).endswith("[There is no #8.]")


async def test_an_unknown_id_is_told_with_the_numbers_there_are(recall: Any) -> None:
    with pytest.raises(ToolError, match=r"no item #99\. Folded: #1\.\.7\."):
        await recall(SESSION, id=99)
    with pytest.raises(ToolError, match="Nothing is folded"):
        await recall(Session([]), id=1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "give either id"),
        ({"id": 1, "query": "login"}, "give either id"),
        ({"query": "  "}, "give either id"),
        ({"id": "the last"}, "as 12 or"),
        ({"id": "1..4", "offset": 5}, "one item"),
        ({"id": 1, "offset": 500}, "no 500"),
        ({"query": "x" * 1001}, "1000 characters"),
    ],
)
async def test_what_cannot_be_done_is_told(
    recall: Any, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(ToolError, match=why):
        await recall(SESSION, **arguments)


async def test_a_long_result_shows_both_ends_and_is_read_on_to_the_end(recall: Any) -> None:
    session = Session(ran(1, "seq", LONG))
    first = await recall(session, id=1)
    assert len(first.output) < CAP + 400
    assert first.output.endswith("line 9999")
    text = shown(first).partition("#2 result of shell, turn 3:\n")[2].partition("\n[... ")[0]
    note = re.search(r'{"id": 2, "offset": (\d+)}', first.output)
    assert note
    assert text + "\n" == LONG[: int(note[1])]
    more: re.Match[str] | None = note
    while more:
        page = shown(await recall(session, id=2, offset=int(more[1])))
        text += "\n" + page.partition("\n")[2].rpartition("\n[characters")[0].rstrip("\n")
        more = re.search(r"; read on with offset (\d+)\]$", page)
    assert text == LONG


async def test_what_has_no_room_is_named(recall: Any) -> None:
    session = Session([*ran(1, "seq", LONG), *ran(3, "ls", "a"), *ran(5, "ls", "b")])
    assert shown(await recall(session, id="1..6")).endswith("[No room for more. Continue with #3.]")
    many = Session([Item(n=n, kind="user") for n in range(1, 5_001)])
    outcome = await recall(many, id="1..5000")
    assert len(outcome.output) < CAP + 5_000
    last = outcome.detail["items"][-1]
    assert outcome.output.endswith(f"[No room for more. Continue with #{last + 1}.]")


async def test_pictures_are_named(recall: Any) -> None:
    picture = Item(n=1, kind="user", content="Look", images=(Image("image/png", "aGk=", 8, 6),))
    assert shown(await recall(Session([picture]), id=1)) == (
        "#1 user:\nLook\n[image: image/png, 8x6]"
    )


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("AssertionError", "#2"),
        ("assertion error", "#2"),
        ("tests/test_login.py:42", "#2"),
        ("decisions cached", "#4"),
        ("user store", "#4"),
        ("userstore", "#4"),
        ("src/app.py", "#5"),
        ("get_user", "#5"),
        ("parseConfigFile", "#5"),
        ("config", "#5"),
        ("parse_config_file", "#5"),
        ("#1234", "#7"),
        ("缓存", "#7"),
        ("python 3.9", "#1"),
    ],
)
async def test_words_names_paths_and_numbers_are_found(recall: Any, query: str, best: str) -> None:
    assert found(await recall(SESSION, query=query))[0].startswith(f"{best} ")


async def test_a_match_shows_its_place_and_its_other_half(recall: Any) -> None:
    outcome = await recall(SESSION, query="assertionerror")
    assert "\n\n".join(found(outcome)) == (
        '#2 call of shell, turn 3: {"command": "pytest -k login"}\n'
        "#3 result of shell, turn 3: E AssertionError: 401 != 200 tests/test_login.py:42"
    )
    assert outcome.detail == {"matches": 1}
    both = found(await recall(SESSION, query="login"))
    assert sum(match.startswith("#2 ") for match in both) == 1


async def test_what_came_back_into_view_is_not_found_and_new_items_are(recall: Any) -> None:
    session = Session(SESSION.items[:4])
    tool = Recall(session)
    assert found(await recall(session, tool, query="login"))
    session.view = frozenset({1, 2, 3})
    assert "No match in 1 folded items" in (await recall(session, tool, query="login")).output
    session.items = SESSION.items
    assert found(await recall(session, tool, query="get_user"))
    session.view = frozenset(range(1, 8))
    assert "Nothing is folded" in (await recall(session, tool, query="login")).output


async def test_an_earlier_recall_is_not_found_in_place_of_what_it_found(recall: Any) -> None:
    earlier = Item(n=8, kind="tool_result", name="recall", content="AssertionError " * 5)
    session = Session([*SESSION.items, earlier])
    assert (await recall(session, query="AssertionError")).detail == {"matches": 1}


async def test_very_many_matches_are_bounded(recall: Any) -> None:
    items = [Item(n=n, kind="user", content=f"needle {n} " * 10_000) for n in range(1, 101)]
    outcome = await recall(Session(items), query="needle")
    assert len(found(outcome)) == MAX_FOUND
    assert len(outcome.output) < CAP
    assert outcome.detail == {"matches": 100}


async def test_searches_at_the_same_time_index_once(recall: Any) -> None:
    tool = Recall(SESSION)
    outcomes = await asyncio.gather(*(recall(SESSION, tool, query="login") for _ in range(8)))
    assert len({outcome.output for outcome in outcomes}) == 1
    assert len(found(outcomes[0])) == 2


@given(
    st.text(alphabet=st.characters(), max_size=40) | st.sampled_from(['"', "NEAR(", "a AND", "*"])
)
def test_no_query_is_read_as_an_expression(query: str) -> None:
    items = {item.n: item.content for item in SESSION.items}
    assert set(ArchiveIndex().search(query, list(items), items.__getitem__)) <= set(items)


async def test_lone_surrogates_in_arguments_are_indexed(recall: Any) -> None:
    call = Item(n=1, kind="tool_call", name="shell", content='{"command": "echo \\ud800 needle"}')
    assert found(await recall(Session([call]), query="needle"))


async def test_without_fts5_a_search_says_so_and_ids_still_work(
    recall: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    with pytest.raises(ToolError, match="FTS5"):
        await recall(SESSION, query="login")
    assert (await recall(SESSION, id=1)).ok


FULL = """
import resource
from pinfold.tools.archive_index import ArchiveIndex

def read(n):
    return " ".join(f"word{n}x{at}" for at in range(3_000))

index = ArchiveIndex()
assert index.search("word1x7", range(1, 4), read) == [1]
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
assert index.search("word1x7 word200x7", range(1, 201), read) == [1, 200]
"""


def test_a_disk_without_room_for_the_index_is_done_without() -> None:
    subprocess.run([sys.executable, "-c", FULL], check=True)


def test_fts5_is_here() -> None:
    assert sqlite3.connect(":memory:").execute("SELECT fts5_source_id()")


def test_a_snippet_shows_the_densest_place() -> None:
    text = "user " * 200 + "the user_id of src/app.py is wrong " + "app " * 200
    assert "user_id of src/app.py" in snippet(text, "src/app.py user_id")
    assert len(snippet(text, "wrong")) <= WIDTH + 2
    assert snippet("one\n  two", "nowhere") == "one two"


@given(st.text("aé€𝄞\n ", max_size=60), st.integers(2, 50))
def test_ends_fit_their_bytes(text: str, limit: int) -> None:
    if len(text.encode()) <= limit:
        assert head(text, limit) == text
        return
    assert text.startswith(head(text, limit))
    assert text.endswith(tail(text, limit))
    assert len(head(text, limit).encode()) <= limit
    assert len(tail(text, limit).encode()) <= limit

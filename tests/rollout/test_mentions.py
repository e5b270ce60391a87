"""Which names and numbers of a text stand in items."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.rollout.items import Item
from pinfold.rollout.mentions import ItemTexts, missing, names, numbers


def said(content: str, n: int = 1, **more: object) -> Item:
    return Item(n=n, kind="tool_result", content=content, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "named", "counted"),
    [
        ("The port is 8013, and 1,500 rows.", [], ["8013", "1500"]),
        ("It exits with 2 (#40).", ["#40"], ["2"]),
        ("See src/parse/lex.py:12 and ./x.py.", ["src/parse/lex.py", "x.py"], ["12"]),
        ("Run `pytest  -x` with --dry-run or -v.", ["pytest  -x", "--dry-run", "-v"], []),
        ("parse() and MAX_ROWS, readToken in `src/a.py:7`.", None, []),
        ("TLS by GitHub, e.g. on utf-8 and v1.2.3", ["TLS", "GitHub", "utf-8", "v1.2.3"], []),
        ("https://example.com/a. Then a/b or line-by-line.", ["https://example.com/a"], []),
        ("1. Wait 1.25s, the 3rd time\n- [x] up to 10%", [], ["1.25", "3", "10"]),
        ("retries=3 localhost:8080 24/7 2026-11-22", None, ["3", "8080", "24", "7"]),
        ("/w/src/a.py is below the workspace", ["src/a.py"], []),
        ("Nothing is named here, isn't it?", [], []),
    ],
)
def test_names_and_numbers(text: str, named: list[str] | None, counted: list[str]) -> None:
    if named is not None:
        assert sorted(names(text, "/w")) == sorted(named)
    assert numbers(text)[: len(counted)] == counted
    assert bool(numbers(text)) == bool(counted)


def test_what_does_not_stand_in_the_items_is_named() -> None:
    items = [said("exit code 1"), said("port = 8012 in /w/src/a.py", 2)]
    assert missing("It exits with 2.", items) == ["2"]
    assert missing("Port 8012 of src/a.py:3", items, "/w") == ["3"]
    assert missing("Port 801 of src/a.pyc", items, "/w") == ["src/a.pyc", "801"]
    assert missing("See #2 and #7", items) == ["#7"]


def test_arguments_of_calls_are_read_as_what_their_json_stands_for() -> None:
    arguments = json.dumps({"command": 'grep "a b"\tagentType', "lines": 40})
    call = Item(n=1, kind="tool_call", name="shell", content=arguments)
    assert missing('`grep "a b"` agentType in 40 lines of `shell`', [call]) == []
    assert missing("tagentType", [call]) == ["tagentType"]


def test_what_the_host_recorded_of_a_result_stands_there_too() -> None:
    result = said("failed", detail={"exit_code": 2, "command": "make lint", "title": "$ make lint"})
    assert missing("`make lint` exits with 2", [result]) == []


def test_texts_that_held_before_still_hold() -> None:
    assert ItemTexts([], ["port 8012"]).missing("8012 or 8013") == ["8013"]


ANY = st.text(max_size=60) | st.text(st.sampled_from("aB1 ./-_:`,#()~@\n%$é使"), max_size=40)


@settings(deadline=None)
@given(ANY, ANY, ANY)
def test_all_that_a_text_names_stands_in_it(before: str, text: str, after: str) -> None:
    assert missing(text, [said(f"{before}\n{text}\n{after}")]) == []


@settings(deadline=None)
@given(ANY)
def test_nothing_stands_in_no_item(text: str) -> None:
    assert len(missing(text, [])) == len(names(text)) + len(numbers(text))

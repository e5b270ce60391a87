"""What servers ask the user for."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pinfold.mcp.elicit import DECLINE, MOST_FIELDS, answered
from pinfold.ports.tool import UserReply


def form(**properties: Any) -> Any:
    schema = {"type": "object", "properties": properties}
    return SimpleNamespace(mode="form", message="Tell \x1b[31mme.", requested_schema=schema)


class User:
    """Answers in turn; remembers what was asked."""

    def __init__(self, *answers: str | None) -> None:
        self._answers = iter(answers)
        self.asked: list[tuple[str, Sequence[str]]] = []

    async def __call__(self, text: str, choices: Sequence[str]) -> UserReply | None:
        self.asked.append((text, choices))
        answer = next(self._answers)
        return None if answer is None else UserReply(answer)


@pytest.mark.parametrize(
    ("field", "answers", "value"),
    [
        ({"type": "string", "title": "Name"}, ["Ann"], "Ann"),
        ({"type": "integer"}, ["many", "3"], 3),
        ({"type": "number"}, ["0.5"], 0.5),
        ({"type": "boolean"}, ["maybe", "yes"], True),
        ({"type": "array"}, ["a, b"], ["a", "b"]),
        ({"type": "string", "enum": ["a", "b"]}, ["b"], "b"),
    ],
)
async def test_an_answer_has_the_type_that_is_wanted(
    field: dict[str, Any], answers: list[str], value: object
) -> None:
    user = User(*answers)
    assert await answered(form(it=field), user) == ("accept", {"it": value})
    assert len(user.asked) == len(answers)
    text, choices = user.asked[0]
    assert "\x1b" not in text
    assert field.get("title", "it") in text
    assert choices[-1] == DECLINE
    assert list(choices[:-1]) == field.get(
        "enum", ["yes", "no"] if field["type"] == "boolean" else []
    )


async def test_the_user_may_decline() -> None:
    field = {"type": "string"}
    assert await answered(form(a=field, b=field), User("1", DECLINE)) == ("decline", None)
    assert await answered(form(a=field), User(None)) == ("decline", None)
    many = {f"f{n}": field for n in range(MOST_FIELDS + 1)}
    assert await answered(form(**many), User()) == ("decline", None)


async def test_an_address_is_shown() -> None:
    params = SimpleNamespace(mode="url", message="Sign in.", url="https://x.example/?a\n")
    user = User("Done")
    assert await answered(params, user) == ("accept", None)
    assert user.asked[0][0] == "Sign in. It asks you to open https://x.example/?a"

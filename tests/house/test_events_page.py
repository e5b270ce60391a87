"""docs/events.md says of each event what the code says: `--snapshot-update` writes it anew."""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from pinfold.rollout.events import TYPES

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
HEAD = "## Events\n"
"""What stands before it is written by hand."""


def node_of(cls: type) -> ast.ClassDef:
    [node] = ast.parse(inspect.getsource(cls)).body
    assert isinstance(node, ast.ClassDef)
    return node


def fields(cls: type) -> Iterator[tuple[str, str, str]]:
    """Name, type and meaning of each field."""
    body = node_of(cls).body
    for at, node in enumerate(body):
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
            continue
        after = body[at + 1] if at + 1 < len(body) else None
        said = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            said = inspect.cleandoc(str(after.value.value)).replace("\n", " ")
        name = node.target.id + ("" if node.value else "*")
        yield name, ast.unparse(node.annotation).strip("'\""), said


def within(cls: type) -> list[type]:
    """The structs that its fields hold."""
    words = re.findall(r"\w+", " ".join(kind for _, kind, _ in fields(cls)))
    names = vars(sys.modules[cls.__module__])
    found = [names.get(word) for word in words]
    return [value for value in found if isinstance(value, type) and issubclass(value, Struct)]


def section(title: str, cls: type) -> str:
    cell = "| `{}` | `{}` | {} |"
    rows = [
        cell.format(name, kind.replace("|", "\\|"), said.replace("|", "\\|"))
        for name, kind, said in fields(cls)
    ]
    lines = [f"### `{title}`", "", ast.get_docstring(node_of(cls)) or "", ""]
    table = ["| field | type | |", "|---|---|---|", *rows] if rows else []
    return re.sub(r"\n{3,}", "\n\n", "\n".join([*lines, *table]).strip()) + "\n"


def page() -> str:
    events = [section(name, cls) for name, cls in TYPES.items()]
    values: dict[type, None] = {}
    waiting = [value for cls in TYPES.values() for value in within(cls)]
    while waiting:
        value = waiting.pop(0)
        if value not in values:
            values[value] = None
            waiting += within(value)
    held = [section(value.__name__, value) for value in values]
    return "\n".join([HEAD, *events, "## Values\n", *held])


def test_the_page_describes_every_event_and_field(request: pytest.FixtureRequest) -> None:
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEAD)
    whole = before + page()
    if request.config.getoption("update_snapshots"):
        PAGE.write_text(whole, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == whole, "run: make snapshots ARGS=tests/house"

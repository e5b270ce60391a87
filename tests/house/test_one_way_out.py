"""What the process prints leaves through the guard of `output.py`: nothing goes around it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "app" / "pinfold"
OWN_PROCESS = {"providers/embedded_server.py", "tools/search.py"}
"""What these print, pinfold reads through a pipe."""


def around(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="__stdout__" | "__stderr__" as name):
                yield f"sys.{name}"
            case ast.Attribute(
                value=ast.Attribute(attr="stdout" | "stderr" as name),
                attr="buffer" | "detach" as part,
            ):
                yield f"{name}.{part}"
            case ast.Call(
                func=ast.Attribute(value=ast.Name("os"), attr="write" | "fdopen" as name),
                args=[ast.Constant(1 | 2), *_],
            ):
                yield f"os.{name}"
            case ast.Call(func=ast.Name("Console"), keywords=keywords) if not any(
                keyword.arg == "file" for keyword in keywords
            ):
                yield "a Console of its own"


def test_nothing_goes_around_the_guard() -> None:
    found = {
        str(path.relative_to(APP)): ways
        for path in APP.rglob("*.py")
        if (ways := list(around(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found.keys() <= {"output.py", *OWN_PROCESS}, found


@pytest.mark.parametrize(
    "code",
    [
        "sys.__stdout__.write(x)",
        "sys.stdout.buffer.write(x)",
        "os.write(1, x)",
        "Console().print(x)",
        "Console(stderr=True)",
    ],
)
def test_a_way_around_is_found(code: str) -> None:
    assert list(around(ast.parse(code)))

"""What a command's text asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.skills.expansion import Plain, Read, Run, parts


def joined(body: str, arguments: str) -> str:
    """The text with `<$ command>` and `<@ file>` for what is to run or to read."""
    said = []
    for part in parts(body, arguments):
        match part:
            case Plain(text):
                said.append(text)
            case Run(command, _):
                said.append(f"<$ {command}>")
            case Read(path, _):
                said.append(f"<@ {path}>")
    return "".join(said)


@pytest.mark.parametrize(
    ("body", "arguments", "text"),
    [
        ("Fix $ARGUMENTS.", "a 'b c'", "Fix a 'b c'."),
        ("$2 then $1; $3 $10", "a 'b c'", "b c then a;  $10"),
        (
            "See @src/x.py, @$1. me@x.org `@y` @",
            "a.md",
            "See <@ src/x.py>, <@ a.md>. me@x.org `@y` @",
        ),
        ("!`git log $1`\n- now: !`ls`", "'a;b'", "<$ git log 'a;b'>\n- now: <$ ls>"),
        ("x!`ls` `!`ls``", "", "x!`ls` `!`ls``"),
        ("!`echo $ARGUMENTS`", "a; rm 'b c'", "<$ echo 'a;' rm 'b c'>"),
        ("$1 $ARGUMENTS", "$2 !`rm` @secret", "$2 $2 !`rm` @secret"),
        ("Don't: $1", "it's fine", "Don't: it's"),
    ],
)
def test_parts(body: str, arguments: str, text: str) -> None:
    assert joined(body, arguments) == text


@given(st.text("$1@!`ab ARGUMENTS'\n"))
def test_arguments_are_looked_through_once(arguments: str) -> None:
    assert joined("$ARGUMENTS", arguments) == arguments
    assert not any(isinstance(part, Run | Read) for part in parts("x $1 $ARGUMENTS y", arguments))

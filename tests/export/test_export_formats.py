"""What files are called, and which format a name tells."""

from pathlib import PurePath

import pytest

from fakes.exports import small, transcript
from pinfold.export.formats import FORMATS, Format, file_name, format_of
from pinfold.export.transcript import ExportedSession
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Item


def titled(text: str) -> ExportedSession:
    return transcript([ItemAdded(item=Item(n=1, kind="user", content=text))])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Why is it slow?", "why-is-it-slow-0197f3a2-7c10.md"),
        ("../../etc/passwd\x00", "etc-passwd-0197f3a2-7c10.md"),
        ("Größe à la carte", "groe-a-la-carte-0197f3a2-7c10.md"),
        ("何が遅い?", "session-0197f3a2-7c10.md"),
        ("", "session-0197f3a2-7c10.md"),
        ("word " * 30, "word-word-word-word-word-word-word-word-0197f3a2-7c10.md"),
        ("x" * 80, f"{'x' * 40}-0197f3a2-7c10.md"),
    ],
)
def test_a_title_becomes_a_plain_name(text: str, name: str) -> None:
    assert file_name("md", titled(text)) == name


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "codex"])
def test_a_name_of_its_own_tells_the_format(name: Format) -> None:
    assert format_of(PurePath(file_name(name, transcript(small())))) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [("a.HTM", "html"), ("a.markdown", "md"), ("a.md.json", "messages"), ("a.txt", None)],
)
def test_an_ending_tells_the_format(path: str, name: Format | None) -> None:
    assert format_of(PurePath(path)) == name

"""`/adopt`: a file is taken, any other word is searched for."""

from pathlib import Path

import pytest

from fakes.commands import FakeContext, run
from fakes.host import FakeHost
from fakes.live_session import live_session
from pinfold.adopt.adoption import NotASession


@pytest.mark.parametrize(
    ("text", "search"),
    [("/adopt", ""), ("/adopt parser", "parser"), ("/adopt the parser", "the parser")],
)
async def test_words_open_the_list(text: str, search: str) -> None:
    context = FakeContext()
    await run(context, text)
    assert (context.opened, context.search) == (["adoptable"], search)
    assert context.host.adopted == []


async def test_a_file_is_found_from_the_sessions_folder(tmp_path: Path) -> None:
    (tmp_path / "odd").touch()
    context = FakeContext(session=live_session(cwd=tmp_path))
    for text in ("/adopt odd", "/adopt sub/b.jsonl"):
        await run(context, text)
    assert context.host.adopted == [tmp_path / "odd", tmp_path / "sub" / "b.jsonl"]
    assert context.host.opened == ["resume 0197f3a2-adopted"] * 2
    assert context.told == ["Adopted from Codex."] * 2


async def test_its_folder_is_used_where_the_user_says_so(tmp_path: Path) -> None:
    context = FakeContext(session=live_session(cwd=tmp_path))
    for text in ("/adopt sub/b.jsonl", "/adopt sub/b.jsonl --use-its-folder"):
        await run(context, text)
    assert context.host.adopted == [tmp_path / "sub" / "b.jsonl"] * 2
    assert context.host.its_folder == [False, True]


async def test_the_session_stays_where_the_file_is_none() -> None:
    class Host(FakeHost):
        def adopt(self, file: Path, *, its_folder: bool = False) -> tuple[str, str]:
            raise NotASession(f"{file} is empty.")

    context = FakeContext(host=Host())
    with pytest.raises(NotASession):
        await run(context, "/adopt /a/b.jsonl")
    assert context.host.opened == []

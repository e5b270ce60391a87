"""Pictures in the prompt and in the transcript."""

from pathlib import Path

import pytest
from msgspec.structs import fields
from rich.style import Style
from textual import events

from fakes.live_session import live_session
from fakes.screen import make_app, until
from pinfold.rollout.items import Image, Item
from pinfold.tools.pictures import mention, named
from pinfold.tui.prompt.editor import Editor
from pinfold.tui.prompt.pictures import mentions
from pinfold.tui.transcript.looks import Looks
from pinfold.tui.transcript.pictures import picture_rows

LOOKS = Looks(**{field.name: Style() for field in fields(Looks) if field.required})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("shot.png", "my shot.JPG", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    return tmp_path


@pytest.mark.parametrize(
    ("pasted", "becomes"),
    [
        ("{}/shot.png", "@shot.png"),
        ("shot.png\n", "@shot.png"),
        ("'{}/my shot.JPG'", '@"my shot.JPG"'),
        ("{}/my\\ shot.JPG ", '@"my shot.JPG"'),
        ("{}/my shot.JPG", '@"my shot.JPG"'),
        ("file://{}/my%20shot.JPG", '@"my shot.JPG"'),
        ("{0}/shot.png '{0}/my shot.JPG'", '@shot.png @"my shot.JPG"'),
        ("{}/gone.png", ""),
        ("{}/notes.txt", ""),
        ("look at {}/shot.png", ""),
        ("file://elsewhere{}/shot.png", ""),
        ("it's shot.png", ""),
        ("a\nb.png", ""),
    ],
)
def test_a_path_that_is_pasted_becomes_a_mention(folder: Path, pasted: str, becomes: str) -> None:
    assert mentions(pasted.format(folder), folder) == becomes


def test_a_mention_names_its_picture_again() -> None:
    paths = ["a.png", "/x/my shot.JPG", "b.gif"]
    assert named("see " + " and ".join(map(mention, paths))) == paths


async def test_a_paste_into_the_prompt_is_a_mention(folder: Path) -> None:
    app = make_app(live_session(cwd=folder), cwd=folder)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.query(Editor))
        editor = app.query_one(Editor)
        editor.post_message(events.Paste(f"{folder}/shot.png"))
        await until(pilot, lambda: editor.text == "@shot.png")


def test_each_picture_is_a_line_with_its_size_and_tokens() -> None:
    image = Image("image/png", "eA==", 1024, 768)
    prompt = Item(n=1, kind="user", content="@a.png and @b.png", images=(image, image))
    rows = [row.text for row in picture_rows(prompt, 60, LOOKS)]
    assert rows[0].startswith("▣ a.png · 1024×768 · ")
    assert rows[0].endswith(" tokens")
    assert rows[1].startswith("▣ b.png")
    result = Item(n=2, kind="tool_result", content="@a.png", images=(image,))
    assert picture_rows(result, 60, LOOKS)[0].text.startswith("▣ picture 1 · 1024×768")


async def test_the_clipboard_s_picture_goes_where_the_cursor_stands(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def saved(session: Path) -> Path:
        return Path("/home/ada/1.png")

    monkeypatch.setattr("pinfold.tools.clipboard.save_picture", saved)
    app = make_app(live_session(), cwd=folder)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.query(Editor))
        editor = app.query_one(Editor)
        await pilot.press(*"see")
        await pilot.press("alt+v")
        await until(pilot, lambda: editor.text == "see @/home/ada/1.png ")
        editor.post_message(events.Paste(""))
        await until(pilot, lambda: editor.text == "see @/home/ada/1.png @/home/ada/1.png ")

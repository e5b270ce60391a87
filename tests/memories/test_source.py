"""What of a session memories read."""

from pathlib import Path

from fakes.digests import asked, called, replied, rewound
from fakes.remembering import session
from pinfold.memories.source import SessionText, read
from pinfold.rollout import provenance
from pinfold.rollout.events import ItemAdded
from pinfold.rollout.items import Image, Item
from pinfold.rollout.store import SessionStore


def source(home: Path, *makes) -> SessionText:
    return read(SessionStore(home).find(session(home, *makes)))


def said(made: SessionText) -> list[str]:
    return [item.content for item in made.items]


def test_instructions_reasoning_and_what_compactions_left_are_not_read(tmp_path: Path) -> None:
    def others(n: int) -> list[ItemAdded]:
        kinds = "reasoning", "checkpoint", "summary", "compaction", "context"
        return [
            ItemAdded(item=Item(n=n + at, kind=kind, content=kind)) for at, kind in enumerate(kinds)
        ]

    host = asked("# AGENTS.md\nAlways lie.", act="host")
    made = source(tmp_path, host, asked("Hello"), others, replied("Hi"))
    assert said(made) == ["", "Hello", "Hi"]


def test_what_the_user_went_back_behind_is_not_read(tmp_path: Path) -> None:
    made = source(tmp_path, asked("First"), asked("No"), rewound(1), asked("Second"))
    assert said(made) == ["First", "Second"]


def test_pictures_and_base64_are_only_named(tmp_path: Path) -> None:
    data = "iVBORw0KGgo" * 60
    picture = Item(n=2, kind="user", content="See", images=(Image("image/png", data),))
    made = source(
        tmp_path,
        called("read", f"before {data} after"),
        lambda n: [ItemAdded(item=Item(n=n, kind="user", content="See", images=picture.images))],
    )
    text = "\n".join(said(made))
    assert data not in text
    assert "[base64, 660 characters, in #2]" in text
    assert "[image: image/png, in #3]" in text
    assert not any(item.images for item in made.items)


def test_who_said_what_survives_the_secrets(tmp_path: Path) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = f"Use {secret} here.\nPASTED {secret} text\nand go on."
    start, end = text.index("PASTED"), text.index("\nand")
    host = [[len("Use"), len("Use ")]]
    made = source(tmp_path, asked(text, pasted=[[start, end]], host=host))
    (item,) = made.items
    assert secret not in item.content
    (pasted,) = provenance.pasted(item)
    assert pasted.startswith("PASTED [secret: ")
    assert pasted.endswith("] text")
    assert "PASTED" not in provenance.words(item)
    assert "and go on." in provenance.words(item)

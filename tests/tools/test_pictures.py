import base64
import struct
from pathlib import Path

import pytest

from pinfold.rollout.items import Image
from pinfold.tools import pictures
from pinfold.tools.pictures import attached

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 80, 60) + bytes(9)
GIF = b"GIF89a" + struct.pack("<HH", 8, 6) + bytes(8)


@pytest.mark.parametrize(
    "prompt",
    ["@shot.png", "See @shot.png, please", "(@shot.png)", "Why?\n@shot.png", "@shot.png @shot.png"],
)
def test_a_picture_that_is_named_goes_out_once(work: Path, prompt: str) -> None:
    (work / "shot.png").write_bytes(PNG)
    image = Image("image/png", base64.b64encode(PNG).decode(), 80, 60)
    assert attached(prompt, work) == ((image,), ())


def test_its_bytes_tell_what_it_is(work: Path) -> None:
    (work / "shot.PNG").write_bytes(GIF)
    ((image,), _) = attached("@shot.PNG", work)
    assert (image.media_type, image.width, image.height) == ("image/gif", 8, 6)


@pytest.mark.parametrize("prompt", ["me@shot.png", "shot.png", "@notes.txt", "@shot.pngs", "@"])
def test_nothing_else_is_taken_for_a_picture(work: Path, prompt: str) -> None:
    (work / "shot.png").write_bytes(PNG)
    assert attached(prompt, work) == ((), ())


def test_what_cannot_go_out_is_told(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_BYTES", 100)
    (work / "text.png").write_text("no picture")
    (work / "large.png").write_bytes(PNG + bytes(100))
    (work / "folder.png").mkdir()
    images, problems = attached("@gone.png @text.png @large.png @folder.png", work)
    assert images == ()
    assert [problem.split(":")[0] for problem in problems] == [
        f"@{name}.png is not attached" for name in ("gone", "text", "large", "folder")
    ]
    assert "does not exist" in problems[0]
    assert "it has 133 bytes, more than 100 bytes" in problems[2]


def test_a_prompt_takes_ten_pictures(work: Path) -> None:
    for n in range(12):
        (work / f"{n}.png").write_bytes(PNG)
    images, problems = attached(" ".join(f"@{n}.png" for n in range(12)), work)
    assert (len(images), len(problems)) == (10, 2)

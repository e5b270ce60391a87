"""Files are replaced whole or not at all."""

import stat
from contextlib import suppress
from pathlib import Path

import pytest

from pinfold import atomic_files
from pinfold.rollout import drafts


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    atomic_files.write_atomic(path, b"one")
    atomic_files.write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_half_way_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "x"
    atomic_files.write_atomic(path, b"one")
    with suppress(ZeroDivisionError), atomic_files.replacing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", ["", "hello\nworld", "😀 \u2028", "x" * 100_000])
def test_a_draft_comes_back(tmp_path: Path, text: str) -> None:
    drafts.save(tmp_path, "earlier")
    drafts.save(tmp_path, text)
    assert drafts.load(tmp_path).text == text


def test_half_a_character_does_not_lose_the_draft(tmp_path: Path) -> None:
    drafts.save(tmp_path, "hello \ud83d")
    assert drafts.load(tmp_path).text == "hello ?"


@pytest.mark.parametrize("content", [b"", b"\xff", b'{"text"', b'{"text": 3}', b"[]", b'"\xff"'])
def test_a_broken_draft_is_no_draft(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "draft.json").write_bytes(content)
    assert drafts.load(tmp_path).text == ""


def test_no_draft_is_empty(tmp_path: Path) -> None:
    assert drafts.load(tmp_path).text == ""

"""The file beside the rollout: whole, or rebuilt."""

from pathlib import Path

import pytest

from fakes.checkpoints import example, reduced
from pinfold.checkpoint.persist import FILE, encode, load, save


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    checkpoint = reduced(example()).snapshot()
    save(tmp_path, checkpoint)
    assert load(tmp_path, checkpoint.seq) == checkpoint
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_file_of_a_later_event_does_not_count(tmp_path: Path) -> None:
    checkpoint = reduced(example()).snapshot()
    save(tmp_path, checkpoint)
    assert load(tmp_path, checkpoint.seq + 1) == checkpoint
    assert load(tmp_path, checkpoint.seq - 1) is None


@pytest.mark.parametrize(
    "found",
    [b"", b"{}", b"[" * 100_000, b"\xff", b'{"schemaVersion": 1}', None],
    ids=["empty", "no fields", "deep", "no UTF-8", "few fields", "missing"],
)
def test_a_file_that_does_not_fit_does_not_count(tmp_path: Path, found: bytes | None) -> None:
    if found is not None:
        (tmp_path / FILE).write_bytes(found)
    assert load(tmp_path, 1) is None


def test_a_file_of_another_schema_does_not_count(tmp_path: Path) -> None:
    checkpoint = reduced(example()).snapshot()
    (tmp_path / FILE).write_bytes(encode(checkpoint).replace(b'Version": 1', b'Version": 2'))
    assert load(tmp_path, checkpoint.seq) is None


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    checkpoint = reduced(example()).snapshot()
    save(tmp_path, checkpoint)
    (tmp_path / f"{FILE}.tmp").mkdir()
    with pytest.raises(OSError):
        save(tmp_path, reduced([]).snapshot())
    assert load(tmp_path, checkpoint.seq) == checkpoint

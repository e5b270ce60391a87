"""Files that are not what they seem are refused in a sentence."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.small_files import head, read, read_text


@given(st.binary(max_size=50), st.integers(0, 60))
def test_a_file_is_read_up_to_the_limit(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, limit: int
) -> None:
    path = tmp_path_factory.mktemp("small") / "file"
    path.write_bytes(data)
    assert head(path, limit) == data[:limit]
    if len(data) <= limit:
        assert read(path, limit) == data
    else:
        with pytest.raises(OSError, match=f"it has more than {limit} bytes"):
            read(path, limit)


def test_a_file_larger_than_memory_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="it has more than 1,000 bytes"):
        read(path, 1_000)


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/null", "/dev/tty", "/"])
def test_a_device_or_a_folder_is_refused(tmp_path: Path, target: str) -> None:
    path = tmp_path / "link"
    path.symlink_to(target)
    with pytest.raises(OSError, match=r"not a regular file|No such device"):
        read(path, 1_000)


def test_a_pipe_is_refused_whether_or_not_someone_writes_to_it(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        read(path, 1_000)
    both = os.open(path, os.O_RDWR)
    os.write(both, b"[model]\n")
    with pytest.raises(OSError, match="not a regular file"):
        read(path, 1_000)
    os.close(both)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        with pytest.raises(OSError):
            read(Path("s"), 1_000)


def test_text_is_utf_8_with_plain_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("a\r\nä\rb\n".encode())
    assert read_text(path, 100) == "a\nä\nb\n"
    path.write_bytes(b"\xff")
    with pytest.raises(OSError, match="it is not UTF-8 text"):
        read_text(path, 100)


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none", 1)

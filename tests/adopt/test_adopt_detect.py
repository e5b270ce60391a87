"""Which format a file has is told from what stands in it."""

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from fakes.agent import stage
from fakes.foreign import Codex, codex_session, said
from fakes.provider import says
from pinfold.adopt.adoption import NotASession
from pinfold.adopt.detect import read
from pinfold.adopt.lines import opened

MESSAGE = {"role": "user", "content": "Go."}
CLAUDE = {
    "type": "user",
    "uuid": "u1",
    "parentUuid": None,
    "sessionId": "s1",
    "timestamp": "2026-03-01T12:00:00.000Z",
    "message": MESSAGE,
}
OLDEST = {"id": "o", "timestamp": "2025-05-01T10:00:00Z", "instructions": None}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.mark.parametrize(
    ("content", "tool"),
    [
        (b"".join(codex_session().encoded()), "codex"),
        (b"{torn\n\n" + b"".join(codex_session().encoded()), "codex"),
        (lines(OLDEST, {"type": "message", **said("user", "x")}), "codex"),
        (lines({"type": "summary", "summary": "x", "leafUuid": "u1"}, CLAUDE), "claude"),
        (lines(MESSAGE, MESSAGE), "messages"),
        (lines({"messages": [MESSAGE]}), "messages"),
        (lines({"messages": [MESSAGE]}, {"messages": [MESSAGE]}), "messages"),
        (json.dumps([MESSAGE], indent=2).encode(), "messages"),
        (json.dumps({"messages": [MESSAGE]}, indent=2).encode(), "messages"),
        (b"\n\n" + json.dumps([MESSAGE]).encode(), "messages"),
    ],
)
def test_the_content_tells_the_format(content: bytes, tool: str, tmp_path: Path) -> None:
    path = tmp_path / "whatever.txt"
    path.write_bytes(content)
    adoption = read(path)
    assert adoption.tool == tool
    assert any(event.ts.tzinfo for event in adoption.events)


def test_packed_rollouts_are_unpacked(tmp_path: Path) -> None:
    plain = b"".join(codex_session().encoded())
    packed = zstandard.ZstdCompressor().compress(plain)
    path = tmp_path / "a"
    path.write_bytes(plain)
    whole = read(path).events[1:]
    path.write_bytes(packed)
    assert read(path).events[1:] == whole
    made = Codex()
    made.meta()
    for number in range(4_000):
        made.user(f"{number * 7919}")
    path.write_bytes(zstandard.ZstdCompressor().compress(b"".join(made.encoded()))[:-200])
    cut = read(path)
    assert cut.title == "0"
    assert len(cut.events) > 1_000


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=5), st.integers(0, 12_000))
def test_no_more_is_unpacked_than_the_limit(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], limit: int
) -> None:
    """Whether the bytes come in one frame or in many."""
    path = tmp_path_factory.mktemp("packed") / "a"
    path.write_bytes(b"".join(zstandard.compress(b"x\n" * size) for size in sizes))
    size = 2 * sum(sizes)
    if size <= limit:
        with opened(path, limit) as file:
            assert len(file.read()) == size
    else:
        with (
            opened(path, limit) as file,
            pytest.raises(OSError, match=f"it unpacks to more than {limit} bytes"),
        ):
            file.read()


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    packer = zstandard.ZstdCompressor()
    with path.open("wb") as file, packer.stream_writer(file) as writer:
        for _ in range(600):
            writer.write(b"x" * 2**20)
    with pytest.raises(OSError, match="it unpacks to more than 512 MB"):
        read(path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"\x7fELF\0\0", "is not text"),
        (b"Dear diary,\ntoday\n", "not a session pinfold can read"),
        (b'{"name": "x"}', "not a session pinfold can read"),
        (b'{\n"name": "x"\n}', "no list of messages"),
        (b"[1, 2]", "no list of messages"),
        (b"[1, 2", "not a session pinfold can read"),
        (b"[" * 5_000, "not a session pinfold can read"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(NotASession, match=why):
        read(path)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "gone")
    with pytest.raises(NotASession, match="folder without"):
        read(tmp_path)


async def test_pinfolds_own_sessions_come_as_they_are(tmp_path: Path) -> None:
    staged = await stage(tmp_path, [says("Hello.")])
    staged.session.send("Hi.")
    await staged.session.idle()
    folder = staged.session.folder
    adoption = read(folder)
    assert [event.data for event in adoption.events][1:] == staged.events()[1:]
    assert (adoption.tool, adoption.session, adoption.title) == ("pinfold", folder.name, "Hi.")
    copy = tmp_path / "copy"
    copy.write_bytes((folder / "rollout.jsonl").read_bytes()[:-9])
    torn = read(copy)
    assert len(torn.events) == len(adoption.events) - 1
    assert torn.notes == ("The last line is half-written.",)
    await staged.session.close()


async def test_lines_out_of_order_or_repeated_are_put_right(tmp_path: Path) -> None:
    staged = await stage(tmp_path, [says("Hello.")])
    staged.session.send("Hi.")
    await staged.session.idle()
    await staged.session.close()
    rollout = staged.session.folder / "rollout.jsonl"
    whole = read(rollout)
    first, *rest = rollout.read_bytes().splitlines(keepends=True)
    rollout.write_bytes(first + b"".join(reversed(rest)) + rest[2])
    mixed = read(rollout)
    assert mixed.events == whole.events
    assert mixed.notes == ("Its lines were out of order, or repeated.",)

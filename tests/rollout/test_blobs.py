"""Blobs: bytes that a session keeps once, and what a rollout may name."""

import base64
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
import zstandard
from msgspec.structs import replace

from fakes.pictures import picture, prompt, replaced
from fakes.sessions import ticking
from pinfold.adopt import detect
from pinfold.ports.provider import ModelInfo
from pinfold.rollout import blobs, codec, context
from pinfold.rollout.blobs import Blobs, sha256
from pinfold.rollout.brought import items_of
from pinfold.rollout.events import Event
from pinfold.rollout.items import Image, Item
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore
from pinfold.tools.workspace import blob_hash
from pinfold.wire.chat import render as chat

PICTURE = picture(1)
BYTES = base64.b64decode(PICTURE.data)
SECRET = b"a file of the user's" * 400


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home")


@pytest.fixture
def folder(store: SessionStore) -> Path:
    """A session with a picture, sent and brought again by a window."""
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(prompt(1, PICTURE), replaced(2, PICTURE))
    return journal.folder


def items(folder: Path) -> list[Item]:
    with Journal.open(folder, ticking(), read_only=True) as journal:
        return [item for event in journal.read() for item in items_of(event.data)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "blobs").iterdir())


def rollout(folder: Path) -> bytes:
    return (folder / "rollout.jsonl").read_bytes()


def test_a_picture_lies_once_and_reads_as_it_was(folder: Path) -> None:
    assert [item.images for item in items(folder)] == [(PICTURE,), (PICTURE,)]
    assert names(folder) == [f"{sha256(BYTES)}.zst"]
    assert PICTURE.data.encode() not in rollout(folder)
    assert rollout(folder).count(sha256(BYTES).encode()) == 2


def test_what_was_appended_is_what_is_read_later(store: SessionStore) -> None:
    with store.create(Path("/w"), "0", ticking()) as journal:
        written = journal.append(prompt(1, PICTURE))
        (_, read) = journal.read()
        assert (read,) == written
        assert next(journal.read_at([(read.offset, read.length)])).data == read.data


def test_blobs_are_for_the_user_alone(folder: Path) -> None:
    (path,) = (folder / "blobs").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_older_rollouts_with_base64_stay_readable(folder: Path) -> None:
    added = Event(9, ticking()(), prompt(3, PICTURE))
    with (folder / "rollout.jsonl").open("ab") as file:
        file.write(codec.encode(added) + b"\n")
    assert items(folder)[-1].images == (PICTURE,)


def test_base64_that_would_not_come_back_to_the_letter_stays(store: SessionStore) -> None:
    odd = replace(PICTURE, data=PICTURE.data[:-2] + "\n" + PICTURE.data[-2:])
    small = Image("image/png", "aGk=")
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(prompt(1, odd, small))
    assert items(journal.folder)[0].images == (odd, small)
    assert not (journal.folder / "blobs").exists()


def test_kept_files_of_older_sessions_are_read(tmp_path: Path) -> None:
    name = blob_hash(b"x = 1\n")
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / name).write_bytes(b"x = 1\n")
    assert Blobs(tmp_path).read(name) == b"x = 1\n"
    (tmp_path / "blobs" / name).write_bytes(b"x = 2\n")
    assert Blobs(tmp_path).read(name) is None


def test_many_write_the_same_bytes_at_once(tmp_path: Path) -> None:
    kept = Blobs(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: kept.add(BYTES), range(40))) == {sha256(BYTES)}
    assert names(tmp_path) == [f"{sha256(BYTES)}.zst"]
    assert kept.read(sha256(BYTES)) == BYTES


def test_damaged_bytes_are_none_and_are_written_again(folder: Path) -> None:
    (path,) = (folder / "blobs").iterdir()
    path.write_bytes(zstandard.compress(b"something else"))
    assert Blobs(folder).read(sha256(BYTES)) is None
    assert not items(folder)[0].images[0].data
    Blobs(folder).add(BYTES)
    assert items(folder)[0].images == (PICTURE,)


def test_a_lost_picture_is_named_to_the_model_in_words(folder: Path) -> None:
    (folder / f"blobs/{sha256(BYTES)}.zst").unlink()
    (first, _) = items(folder)
    sees = ModelInfo("gpt-5.5", "openai", 100_000, "table", vision=True)
    (message,) = chat.messages(context.Context(), (first,), sees)
    assert message["content"] == "Look at 1.\n[image: image/png, 80x60, lost]"


# What strangers write


@pytest.mark.parametrize(
    "name",
    ["../../secret", "/etc/passwd", "..", "", "a" * 63, "A" * 64, f"{'a' * 64}/../../../secret"],
)
def test_what_is_no_hash_names_nothing(folder: Path, name: str) -> None:
    (folder.parent / "secret").write_bytes(SECRET)
    (folder.parent / "secret.zst").write_bytes(zstandard.compress(SECRET))
    assert Blobs(folder).read(name) is None
    assert not Blobs(folder).has(name)
    hostile = Image("image/png", "", hash=name)
    line = codec.encode(Event(9, ticking()(), prompt(3, hostile)))
    with (folder / "rollout.jsonl").open("ab") as file:
        file.write(line + b"\n")
    assert items(folder)[-1].images == (hostile,)


def test_links_pipes_and_bombs_are_not_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, name = Blobs(folder), sha256(SECRET)
    path = folder / f"blobs/{name}.zst"
    (tmp_path / "secret").write_bytes(zstandard.compress(SECRET))
    path.symlink_to(tmp_path / "secret")
    assert kept.read(name) is None
    path.unlink()
    os.mkfifo(path)
    assert kept.read(name) is None
    path.unlink()
    monkeypatch.setattr(blobs, "_has_hash", lambda data, name: True)
    path.write_bytes(zstandard.compress(bytes(5_000_000)))
    assert path.stat().st_size < 1_000
    assert kept.read(name, 1_000_000) is None


def test_an_adopted_rollout_brings_the_pictures_that_lie_beside_it(
    store: SessionStore, folder: Path, tmp_path: Path
) -> None:
    adoption = detect.read(folder / "rollout.jsonl")
    with store.adopt(adoption.events, tmp_path, "0", ticking()) as journal:
        assert names(journal.folder) == names(folder)
    assert [item.images for item in items(journal.folder)] == [(PICTURE,), (PICTURE,)]
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes(rollout(folder))
    adoption = detect.read(alone)
    assert any("2 pictures did not come along" in note for note in adoption.notes)
    with store.adopt(adoption.events, tmp_path, "0", ticking()) as journal:
        pass
    assert [image.data for item in items(journal.folder) for image in item.images] == ["", ""]


# Copies


def test_a_fork_shares_the_bytes_and_outlives_its_parent(store: SessionStore, folder: Path) -> None:
    fork, _ = store.fork(folder, None, ticking())
    fork.close()
    (one,), (other,) = ((path / "blobs").iterdir() for path in (folder, fork.folder))
    assert one.stat().st_ino == other.stat().st_ino
    one.unlink()
    assert items(fork.folder)[0].images == (PICTURE,)


def test_a_fork_copies_where_there_are_no_hard_links(
    store: SessionStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    fork, _ = store.fork(folder, None, ticking())
    fork.close()
    (path,) = (fork.folder / "blobs").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert items(fork.folder)[0].images == (PICTURE,)


def test_whole_lines_hold_the_pictures_and_what_nobody_knows(folder: Path) -> None:
    line = rollout(folder).splitlines()[1].replace(b'"kind":"user"', b'"kind":"user","new":{"a":1}')
    with (folder / "rollout.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with Journal.open(folder, ticking(), read_only=True) as journal:
        *_, last = journal.whole_lines()
    item = msgspec.json.decode(last)["data"]["item"]
    assert item["new"] == {"a": 1}
    assert msgspec.convert(item["images"], tuple[Image, ...]) == (PICTURE,)

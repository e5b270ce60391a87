"""Room on the disk: what is shared, what nothing refers to, and deleting; whatever cuts it off."""

import subprocess
import sys
from pathlib import Path

import pytest

from fakes.pictures import picture, prompt
from fakes.sessions import ticking
from pinfold.rollout import disk
from pinfold.rollout.blobs import Blobs
from pinfold.rollout.events import ArtifactObserved, ItemAdded
from pinfold.rollout.hold import Hold, SessionHeld
from pinfold.rollout.journal import Journal
from pinfold.rollout.store import SessionStore

TESTS = Path(__file__).parents[1]
LOOSE = b"nothing refers to it" * 200


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path)


@pytest.fixture
def folder(store: SessionStore) -> Path:
    with store.create(Path("/w"), "0", ticking()) as journal:
        journal.append(prompt(1, picture(1)))
    return journal.folder


def pictures(folder: Path) -> list[str]:
    """The bytes of all pictures of a session; empty where they are lost."""
    with Journal.open(folder, ticking(), read_only=True) as journal:
        added = [event.data.item for event in journal.read() if isinstance(event.data, ItemAdded)]
    return [image.data for item in added for image in item.images]


def test_gc_removes_what_nothing_refers_to_and_nothing_else(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    assert disk.waste(folder) is None
    kept = Blobs(folder)
    kept.add(LOOSE)
    (folder / "blobs" / "left.tmp").write_bytes(b"half")
    with kept.writing("1" * 40) as copy:
        copy.write(b"x")
    with Journal.open(folder, ticking()) as journal:
        backup = ArtifactObserved(uri="a", kind="file", op="update", item=1, backup="1" * 40)
        journal.append(backup)
    found = disk.waste(folder)
    assert found is not None
    assert len(found.files) == 2
    assert found.size == sum(path.stat().st_size for path in found.files)
    assert disk.clear(folder, ticking()) == found
    assert sorted(folder.rglob("*")) == sorted([*before, folder / f"blobs/{'1' * 40}.zst"])
    assert pictures(folder) == [picture(1).data]


def test_gc_leaves_an_open_session_alone(folder: Path) -> None:
    with Journal.open(folder, ticking()) as journal:
        Blobs(folder).add(LOOSE)  # its event comes next
        with pytest.raises(SessionHeld):
            disk.clear(folder, ticking())
        journal.append(prompt(2, picture(2)))
    assert disk.clear(folder, ticking()) is not None
    assert pictures(folder) == [picture(1).data, picture(2).data]


def test_gc_leaves_a_fork_in_the_making_alone(folder: Path, tmp_path: Path) -> None:
    target = folder.with_name("fork")
    target.mkdir()
    with Hold(target, ticking()):
        Blobs(folder).link_to(target)
        with pytest.raises(SessionHeld):
            disk.clear(target, ticking())
    assert disk.clear(target, ticking()) is not None
    assert not target.exists()
    assert pictures(folder) == [picture(1).data]


def test_what_a_fork_shares_counts_once(store: SessionStore, folder: Path) -> None:
    fork, _ = store.fork(folder, None, ticking())
    fork.close()
    size, other = disk.size_of(folder), disk.size_of(fork.folder)
    assert size.blobs == other.blobs == size.shared == other.shared > 6_000
    assert disk.together([folder, fork.folder]) == size.total + other.total - size.blobs


def test_deleting_a_session_leaves_its_forks_whole(store: SessionStore, folder: Path) -> None:
    fork, _ = store.fork(folder, None, ticking())
    fork.append(prompt(2, picture(1)))
    fork.close()
    other, _ = store.fork(fork.folder, None, ticking())
    other.close()
    assert disk.forks_of(folder.name, disk.folders(folder.parents[4])) == [fork.folder]
    disk.delete(folder, ticking())
    assert not folder.exists()
    assert pictures(fork.folder) == [picture(1).data] * 2


def test_an_open_session_is_not_deleted(folder: Path) -> None:
    with Journal.open(folder, ticking()), pytest.raises(SessionHeld):
        disk.delete(folder, ticking())
    assert pictures(folder) == [picture(1).data]


def test_links_in_a_session_are_neither_counted_nor_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.zst").write_bytes(b"mine" * 1_000)
    size = disk.size_of(folder)
    (folder / "blobs" / "link.zst").symlink_to(outside / "mine.zst")
    (folder / "outputs").symlink_to(outside)
    assert disk.size_of(folder) == size
    disk.clear(folder, ticking())
    disk.delete(folder, ticking())
    assert (outside / "mine.zst").read_bytes() == b"mine" * 1_000


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_whatever_is_cut_off_no_reference_points_to_missing_bytes(
    tmp_path: Path, every: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fakes.cut_writes", str(tmp_path), str(every)],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cut = dict(line.split() for line in done.stdout.splitlines())
    for act in ("append", "fork", "adopt", "delete", "gc"):
        ended = [how for name, how in cut.items() if name.startswith(f"{act}-")]
        assert ended == ["SIGKILL"] * (len(ended) - 1) + ["0"]
        assert len(ended) > 3, f"{act} is several steps"
    for name in cut:
        store = SessionStore(tmp_path / name)
        for when in ("as it was left", "after gc"):
            for summary in store.list():
                assert all(pictures(summary.folder)), f"{name}, {when}"
                assert pictures(summary.folder)[:2] == [picture(1).data, picture(2).data]
            for folder in disk.folders(tmp_path / name):
                disk.clear(folder, ticking())
        left = disk.folders(tmp_path / name)
        assert not [path for path in left if disk.waste(path)], name

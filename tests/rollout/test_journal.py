"""The journal keeps what it acknowledged, whatever happens."""

import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fakes.sessions import item, new_journal, ticking
from pinfold.rollout.codec import UNREADABLE
from pinfold.rollout.events import SCHEMA, PromptQueued, SessionStarted, Unknown
from pinfold.rollout.hold import SessionHeld, is_held
from pinfold.rollout.journal import Journal, JournalError

CHILD = """
import os, resource, sys
from datetime import UTC, datetime
from pathlib import Path
from pinfold.rollout.events import PromptQueued
from pinfold.rollout.hold import SessionHeld
from pinfold.rollout.journal import Journal, JournalError

folder = Path(sys.argv[1])
now = lambda: datetime.now(UTC)
"""


def child(code: str, folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", CHILD + code, str(folder)], stdout=subprocess.PIPE, text=True
    )


def seqs(folder: Path) -> list[int]:
    with Journal.open(folder, ticking(), read_only=True) as journal:
        return [event.seq for event in journal.read()]


def test_what_was_appended_is_read_back_in_order(tmp_path: Path) -> None:
    with new_journal(tmp_path / "s") as journal:
        first, second = journal.append(item(1, content="a\u2028b\x85c\r\nd"), item(2))
        (third,) = journal.append(item(3))
        assert [first.seq, second.seq, third.seq] == [2, 3, 4]
    with Journal.open(tmp_path / "s", ticking()) as journal:
        assert list(journal.read())[1:] == [first, second, third]
        assert journal.started.id == "s"
        assert journal.last_seq == 4
        assert journal.append(item(4))[0].seq == 5


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    with new_journal(tmp_path / "deep" / "s") as journal:
        modes = [path.stat().st_mode for path in (journal.path, journal.folder)]
        assert [stat.S_IMODE(mode) for mode in modes] == [0o600, 0o700]
        assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "rest",
    [b'{"seq":3,"ts":"20', b"\0\0\0\0", b"not json\n", b'{"a":1}\n{"seq', b"x" * 200_000, b"\n\n"],
)
def test_a_torn_end_is_cut_off_and_kept_beside(tmp_path: Path, rest: bytes) -> None:
    new_journal(tmp_path / "s").close()
    rollout = tmp_path / "s" / "rollout.jsonl"
    sound = rollout.read_bytes()
    rollout.write_bytes(sound + rest)
    with Journal.open(tmp_path / "s", ticking()) as journal:
        assert journal.torn is not None
        assert journal.torn.path == tmp_path / "s" / "rollout.torn"
        assert journal.torn.path.read_bytes().startswith(rest)
        assert journal.torn.size == len(rest)
        assert journal.torn.lines == len(rest.splitlines())
        assert rollout.read_bytes() == sound
        journal.append(item(1))
    assert seqs(tmp_path / "s") == [1, 2]
    with Journal.open(tmp_path / "s", ticking()) as journal:
        assert journal.torn is None


def test_garbage_in_the_middle_stays_and_is_stepped_over(tmp_path: Path) -> None:
    new_journal(tmp_path / "s").close()
    rollout = tmp_path / "s" / "rollout.jsonl"
    future = b'{"seq":3,"ts":"2030-01-01T00:00:00Z","type":"dreamt","data":{"of": [1, 2]}}'
    with rollout.open("ab") as file:
        file.write(b"\xff garbage\n" + future + b"\n")
    before = rollout.read_bytes()
    with Journal.open(tmp_path / "s", ticking()) as journal:
        assert journal.torn is None
        _, garbage, dream = journal.read()
        assert garbage.data == Unknown(type=UNREADABLE, raw=b"\xff garbage")
        assert dream.data == Unknown(type="dreamt", raw=future)
        assert journal.append(item(1))[0].seq == 4
        assert rollout.read_bytes().startswith(before)


@pytest.mark.parametrize("content", [b"", b"\n", b"hello", b"{}\n", b"x" * 100_000, b'{"seq":1'])
def test_what_is_no_rollout_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_bytes(content)
    with pytest.raises(JournalError, match="holds no session"):
        Journal.open(tmp_path, ticking())
    assert rollout.read_bytes() == content


def test_a_rollout_of_a_newer_pinfold_is_refused(tmp_path: Path) -> None:
    started = SessionStarted(schema=SCHEMA + 1, id="s", cwd="/w", version="9")
    Journal.create(tmp_path / "s", started, ticking()).close()
    with pytest.raises(JournalError, match="newer pinfold"):
        Journal.open(tmp_path / "s", ticking())


def test_a_session_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no session"):
        Journal.open(tmp_path / "s", ticking())
    assert not (tmp_path / "s").exists()


def test_text_that_utf8_cannot_hold_is_mended(tmp_path: Path) -> None:
    with new_journal(tmp_path / "s") as journal:
        (event,) = journal.append(PromptQueued(id=1, text="half \ud83d"))
        assert event.data == PromptQueued(id=1, text="half \ufffd")
        assert list(journal.read())[1] == event


def test_a_second_process_is_told_who_holds_the_session(tmp_path: Path) -> None:
    held = """
try:
    Journal.open(folder, now)
except SessionHeld as error:
    print(error)
    print(error.holder.pid)
journal = Journal.open(folder, now, read_only=True)
print(len(list(journal.read())))
"""
    with new_journal(tmp_path / "s") as journal:
        for _ in range(2):  # being refused does not wipe out who holds it
            output, _ = child(held, journal.folder).communicate()
            sentence, pid, count = output.splitlines()
            assert int(pid) == os.getpid()
            assert str(os.getpid()) in sentence
            assert count == "1"
    Journal.open(tmp_path / "s", ticking()).close()


def test_whether_a_session_is_held_is_seen_without_opening_it(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with new_journal(folder):
        assert is_held(folder)
        assert is_held(folder)
    assert not is_held(folder)
    (folder / "holder.json").write_text("{}")  # as a crash leaves it
    assert not is_held(folder)


def test_reading_beside_the_holder_changes_nothing(tmp_path: Path) -> None:
    with new_journal(tmp_path / "s") as journal:
        journal.append(item(1))
        with journal.path.open("ab") as file:
            file.write(b'{"seq":')
        before = {path: path.read_bytes() for path in journal.folder.iterdir()}
        with Journal.open(journal.folder, ticking(), read_only=True) as reader:
            assert [event.seq for event in reader.read()] == [1, 2]
            assert reader.torn is None
            with pytest.raises(JournalError, match="not open for writing"):
                reader.append(item(2))
        assert {path: path.read_bytes() for path in journal.folder.iterdir()} == before
        with pytest.raises(SessionHeld):
            Journal.open(journal.folder, ticking())


def test_a_write_that_does_not_fit_leaves_no_half_line(tmp_path: Path) -> None:
    full = """
journal = Journal.open(folder, now)
size = journal.path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1_000, resource.RLIM_INFINITY))
try:
    journal.append(PromptQueued(id=1, text="x" * 5_000))
except JournalError as error:
    print(error)
print(journal.path.stat().st_size - size)
print(journal.append(PromptQueued(id=2, text="small"))[0].seq)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(journal.append(PromptQueued(id=3, text="x" * 5_000))[0].seq)
"""
    new_journal(tmp_path / "s").close()
    output, _ = child(full, tmp_path / "s").communicate()
    sentence, left, small, large = output.splitlines()
    assert "could not be written" in sentence
    assert [left, small, large] == ["0", "2", "3"]
    assert seqs(tmp_path / "s") == [1, 2, 3]


@pytest.mark.slow
def test_killed_at_any_moment_it_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    appending = """
journal = Journal.open(folder, now)
while True:
    added = journal.append(*[PromptQueued(id=1, text="x" * size) for size in (10, 9_000, 300)])
    os.write(1, b"%d\\n" % added[-1].seq)
"""
    dice = random.Random(2)
    folder = tmp_path / "s"
    new_journal(folder).close()
    for _ in range(50):
        process = child(appending, folder)
        assert process.stdout
        acknowledged = process.stdout.readline()
        for _ in range(dice.randrange(60)):
            acknowledged = process.stdout.readline()
        time.sleep(dice.random() / 1_000)  # somewhere in the midst of the next append
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().splitlines()
        process.wait()
        with Journal.open(folder, ticking()) as journal:
            assert journal.last_seq >= int(rest[-1] if rest else acknowledged)
            lines = journal.path.read_text().splitlines()
        assert [json.loads(line)["seq"] for line in lines] == [*range(1, len(lines) + 1)]


@pytest.mark.parametrize("content", [None, b"", b"\xff", b'{"pid": "x"}'])
def test_a_holder_that_has_not_said_who_it_is_still_holds(
    tmp_path: Path, content: bytes | None
) -> None:
    with new_journal(tmp_path / "s") as journal:
        said = journal.folder / "holder.json"
        said.unlink()
        if content is not None:
            said.write_bytes(content)
        with pytest.raises(SessionHeld, match=r"open in another pinfold\.$"):
            Journal.open(journal.folder, ticking())


def test_a_session_cannot_be_begun_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="could not be written"):
        new_journal(tmp_path / "file" / "s")
    new_journal(tmp_path / "s").close()
    with pytest.raises(JournalError, match="could not be written"):
        new_journal(tmp_path / "s")
    assert seqs(tmp_path / "s") == [1]

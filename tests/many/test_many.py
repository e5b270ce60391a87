"""Many sessions at once: named by folders and globs, worked on here or in processes, kept."""

import base64
import json
import os
import signal
import stat
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from benchmarks import made_up

from fakes.foreign import codex_session
from fakes.pictures import picture, prompt
from pinfold.agent.clock import CLOCK
from pinfold.cli import run as pinfold
from pinfold.many import content
from pinfold.many.engines import FinishedTask, InProcess, Processes, SessionTask
from pinfold.many.named import NamedSession, named
from pinfold.many.results import FILE, Cache
from pinfold.many.run import outcomes, run
from pinfold.many.work import Failed, SessionWork, attempt
from pinfold.rollout.store import SessionStore

Out = pytest.CaptureFixture[str]
DIGEST = SessionWork("digest", {"tokens": 500, "json": False, "index": 0})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with four sessions of pinfold's in `home/sessions`."""
    for name in ("PINFOLD_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    assert len(list(made_up.write(tmp_path / "home", 4))) == 4
    return tmp_path


def no_id(word: str) -> Path:
    raise AssertionError(word)


def test_words_name_files_folders_and_patterns_each_session_once(folder: Path) -> None:
    (folder / "talk.jsonl").write_bytes(b"".join(codex_session().encoded()))
    (folder / "home" / "notes.txt").write_text("no session")
    cache = folder / "home" / "first_frames" / "result.json"
    cache.parent.mkdir()
    cache.write_text("{}")
    every = named(["talk.jsonl", "home", "home/sessions/*/*/*/*", "home/**/*.jsonl"], no_id)
    assert every[0].name == "talk.jsonl"
    assert len(every) == 5
    assert every[0].stem == "talk"
    assert every[1].stem == f"sessions/2025/01/01/{every[1].name}"
    with pytest.raises(FileNotFoundError, match=r"no sessions in home/\*\.jsonl"):
        named(["home/*.jsonl"], no_id)


def test_a_second_run_does_only_what_is_new(folder: Path, capsys: Out) -> None:
    assert pinfold(["digest", "home"]) == 0
    first = capsys.readouterr()
    assert first.out.count("## 0194") == 4
    assert "4 sessions: 4 new" in first.err
    list(made_up.write(folder / "home", 1, first=4))
    assert pinfold(["digest", "home"]) == 0
    second = capsys.readouterr()
    assert "5 sessions: 1 new, 4 unchanged" in second.err
    assert second.out.startswith(first.out)
    assert pinfold(["digest", "home", "--tokens", "100"]) == 0
    assert "5 sessions: 5 new" in capsys.readouterr().err
    database = folder / "xdg_cache_home" / "pinfold" / FILE
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


@pytest.mark.parametrize("out", [[], ["--out", "docs"]])
def test_a_name_that_is_no_text_is_known_again(folder: Path, capsys: Out, out: list[str]) -> None:
    (folder / "odd\udcff.jsonl").write_bytes(b"".join(codex_session().encoded()))
    digest = ["digest", "home", "odd\udcff.jsonl", *out]
    assert pinfold(digest) == 0
    assert "5 sessions: 5 new" in capsys.readouterr().err
    assert pinfold(digest) == 0
    assert "5 sessions: 0 new, 5 unchanged" in capsys.readouterr().err


def test_a_deleted_session_leaves_the_results_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.setenv("PINFOLD_HOME", str(folder / "home"))
    session = named(["home"], no_id)[0]
    assert pinfold(["digest", "home"]) == 0
    word = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("#1 "))
    assert pinfold(["delete", session.name, "--yes"]) == 0
    kept = folder / "xdg_cache_home" / "pinfold"
    assert not any(word.encode() in file.read_bytes() for file in kept.glob(f"{FILE}*"))
    capsys.readouterr()
    list(made_up.write(folder / "home", 1))
    assert pinfold(["digest", "home"]) == 0
    assert "4 sessions: 1 new, 3 unchanged" in capsys.readouterr().err


def test_files_of_results_are_written_again_only_where_they_changed(
    folder: Path, capsys: Out
) -> None:
    wish = ["export", "home", "-f", "md", "--out", "docs"]
    assert pinfold(wish) == 0
    files = sorted((folder / "docs").rglob("*.md"))
    assert len(files) == 4
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    before = files[0].read_bytes()
    files[0].write_text("changed")
    files[1].unlink()
    capsys.readouterr()
    assert pinfold(wish) == 0
    assert "4 sessions: 2 new, 2 unchanged" in capsys.readouterr().err
    assert files[0].read_bytes() == before


def test_one_bad_session_is_named_and_stops_nothing(folder: Path, capsys: Out) -> None:
    (folder / "home" / "bad.jsonl").write_text("{}\n")
    assert pinfold(["digest", "home", "absent.jsonl", "--json"]) == 1
    told = capsys.readouterr()
    assert len([json.loads(line) for line in told.out.splitlines()]) == 4
    assert f"{folder}/home/bad.jsonl is not a session" in told.err
    assert f"{folder}/absent.jsonl can't be read: No such file" in told.err
    assert "6 sessions: 4 new, 2 failed" in told.err


class Interrupted(InProcess):
    """Ctrl+C while the third is worked on."""

    def map(
        self, work: SessionWork, tasks: Iterable[SessionTask]
    ) -> Generator[FinishedTask, None, None]:
        for done, _ in zip(super().map(work, tasks), range(2), strict=False):
            yield done
        raise KeyboardInterrupt


def test_a_session_whose_name_no_result_can_have_stops_no_other(folder: Path, capsys: Out) -> None:
    session = Path(named(["home"], no_id)[0].path).read_bytes()
    (folder / "in" / "a.html").mkdir(parents=True)
    for name in ("a.jsonl", "a.html/b.jsonl", f"{'x' * 249}.jsonl", "z.jsonl"):
        (folder / "in" / name).write_bytes(session)
    assert pinfold(["export", "in", "--format", "html", "--out", "out"]) == 1
    assert "Its result can't be written: Is a directory." in capsys.readouterr().err
    written = {path.name for path in (folder / "out").rglob("*") if path.is_file()}
    assert written == {"b.html", f"{'x' * 249}.html", "z.html"}


def test_ctrl_c_keeps_what_is_done(folder: Path) -> None:
    sessions = named(["home"], no_id)
    cache = Cache(folder / "cache")
    report = run(DIGEST, sessions, Interrupted(), cache)
    assert (report.interrupted, report.new) == (True, 2)
    assert len(list(outcomes(report, sessions, cache))) == 2
    report = run(DIGEST, sessions, InProcess(), cache)
    assert (report.interrupted, report.known, report.new) == (False, 2, 2)
    cache.close()


def test_a_broken_cache_is_made_again(folder: Path) -> None:
    cache = folder / "cache"
    cache.mkdir()
    (cache / FILE).write_bytes(b"no database" * 1_000)
    sessions = named(["home"], no_id)
    kept = Cache(cache)
    assert run(DIGEST, sessions, InProcess(), kept).new == 4
    kept.close()
    kept = Cache(cache)
    assert run(DIGEST, sessions, InProcess(), kept).known == 4
    kept.close()


def test_secrets_are_taken_out_first(folder: Path, capsys: Out) -> None:
    secret = "gh" + "p_" + "aB3dE5fG7hJ9kLmN1pQ2" + "aB3dE5fG7hJ9kLmN"
    line = {"role": "user", "content": f"Use {secret} for {{it}}."}
    (folder / "talk.json").write_text(json.dumps([line]))
    assert pinfold(["digest", "talk.json", "home"]) == 0
    told = capsys.readouterr().out
    assert secret not in told
    assert "[secret: " in told
    assert pinfold(["digest", "talk.json", "home", "--no-redact"]) == 0
    assert secret in capsys.readouterr().out
    plain = b'{"a": "none"}\n{broken\n'
    assert content.redacted(plain) is plain
    torn = f'{{"role": "user", "content": "{secret}"}}\n{{"torn {secret}'.encode()
    assert secret.encode() not in content.redacted(torn)


def test_words_are_found_in_the_files_that_are_named(folder: Path, capsys: Out) -> None:
    (folder / "talk.jsonl").write_bytes(b"".join(codex_session().encoded()))
    assert pinfold(["find", "the", "FIX", "tes", "--in", "*.jsonl", "--in", "home", "--json"]) == 0
    hits = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert hits[0]["file"] == str(folder / "talk.jsonl")
    assert "Fix the test." in hits[0]["piece"]
    assert pinfold(["find", "nowhere", "--in", "home"]) == 1
    assert capsys.readouterr().out == "Nothing found.\n"


def test_pictures_come_along_and_missing_ones_are_counted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    there = SessionStore(folder / "pictures").create(folder, "0", CLOCK.now)
    shown, lost = picture(1), picture(2)
    for data in (prompt(1, shown), prompt(2, lost)):
        there.append(data)
    there.close()
    blob = there.folder / "blobs" / f"{sha256(base64.b64decode(lost.data)).hexdigest()}.zst"
    blob.unlink()
    read = content.read(str(there.folder / "rollout.jsonl"))
    assert read.lost == 1
    assert shown.data.encode() in read.data
    assert content.redacted(read.data) is read.data
    assert pinfold(["export", "pictures", "-f", "html", "--out", "docs"]) == 0
    assert "1 picture is missing" in capsys.readouterr().err
    (page,) = (folder / "docs").rglob("*.html")
    assert shown.data in page.read_text()


def die(work: SessionWork, name: str, data: bytes) -> bytes | Failed:
    assert "OPENAI_API_KEY" not in Path("/proc/self/environ").read_text()
    if name == "deadly.jsonl":
        os.kill(os.getpid(), signal.SIGKILL)
    return attempt(work, name, data)


def test_processes_give_the_same_bytes_get_no_keys_and_name_the_session_that_kills_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    first = named(["home"], no_id)[0]
    deadly = NamedSession(str(folder / "deadly.jsonl"), str(folder))
    Path(deadly.path).write_bytes(b"".join(codex_session().encoded()))
    monkeypatch.setattr("pinfold.many.engines.attempt", die)
    cache, other = Cache(folder / "cache"), Cache(folder / "other")
    every = [first, deadly]
    there = run(DIGEST, every, Processes(1, {"OPENAI_API_KEY", "NOT_SET"}), cache)
    assert os.environ["OPENAI_API_KEY"] == "a key"
    assert there.failed == {1: "The process working on it was killed."}
    here = run(DIGEST, [first], InProcess(), other)
    mapped = [data for _, data in outcomes(there, every, cache)]
    assert mapped == [data for _, data in outcomes(here, [first], other)]
    cache.close()
    other.close()


def test_sessions_that_are_too_large_to_hand_over_are_worked_on_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.setattr("pinfold.many.engines.LARGEST", 0)
    withheld: list[frozenset[str]] = []

    def pool(jobs: int, variables: frozenset[str]) -> ThreadPoolExecutor:
        withheld.append(variables)
        return ThreadPoolExecutor(jobs)

    monkeypatch.setattr("pinfold.many.engines.Pool", pool)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", None)
    assert pinfold(["digest", "home", "--jobs", "2"]) == 0
    assert "4 sessions were processed here: larger than" in capsys.readouterr().err
    assert "OPENAI_API_KEY" in withheld[0]

"""`--cluster`: the same work by a Dask scheduler's workers."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks import made_up

from fakes.foreign import codex_session
from pinfold.cli import run as pinfold
from pinfold.commands.arguments import CommandError
from pinfold.many.engines import InProcess
from pinfold.many.named import NamedSession, named
from pinfold.many.results import Cache
from pinfold.many.run import outcomes, run
from pinfold.many.work import Failed, SessionWork, attempt

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
from pinfold.many import cluster

Out = pytest.CaptureFixture[str]
DIGEST = SessionWork("digest", {"tokens": 500, "json": False, "index": 0})
SECRET = "gh" + "p_" + "aB3dE5fG7hJ9kLmN1pQ2" + "aB3dE5fG7hJ9kLmN"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PINFOLD_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cache(folder: Path) -> Iterator[Callable[[], Cache]]:
    """Caches that hold nothing."""
    opened: list[Cache] = []

    def another() -> Cache:
        opened.append(Cache(folder / f"cache{len(opened)}"))
        return opened[-1]

    yield another
    for one in opened:
        one.close()


def sessions(folder: Path, count: int) -> list[NamedSession]:
    list(made_up.write(folder / "home", count))
    return named([str(folder / "home")], Path)


def listening(pid: int) -> set[str]:
    import psutil

    process = psutil.Process(pid)
    return {
        connection.laddr.ip
        for one in [process, *process.children(recursive=True)]
        for connection in one.net_connections("all")
        if connection.status == psutil.CONN_LISTEN
    }


def has_key() -> bool:
    return "OPENAI_API_KEY" in Path("/proc/self/environ").read_text()


def without_secret(work: SessionWork, name: str, data: bytes) -> bytes | Failed:
    assert SECRET.encode() not in data
    return attempt(work, name, data)


def test_a_local_cluster_gives_the_same_bytes_and_listens_nowhere_else(
    folder: Path, cache: Callable[[], Cache], capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions(folder, 3)
    talk = folder / "home" / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": f"Use {SECRET} here."}]))
    every = named([str(folder / "home")], Path)
    here, there = cache(), cache()
    expected = [data for _, data in outcomes(run(DIGEST, every, InProcess(), here), every, here)]
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    with cluster.local(1, {"OPENAI_API_KEY"}) as client:
        assert set(client.run(has_key).values()) == {False}
        report = run(DIGEST, every, cluster.DaskCluster(client, leaves=False), there)
        assert listening(os.getpid()) == {"127.0.0.1"}
        assert [data for _, data in outcomes(report, every, there)] == expected
        # By its address it is a stranger's cluster: it is asked about first.
        address = client.scheduler.address
        ask = ["digest", "home", "--tokens", "500", "--cluster", address]
        assert pinfold(ask) == 2
        told = capsys.readouterr()
        assert "4 sessions, " in told.err
        assert "leave this machine for 127.0.0.1, without their secrets" in told.err
        monkeypatch.setattr("pinfold.many.cluster.attempt", without_secret)
        assert pinfold([*ask, "--yes", "--shared", "home/sessions"]) == 0
        told = capsys.readouterr()
        assert f"1 session, {talk.stat().st_size} bytes, leaves this machine" in told.err
        assert "3 more are sent as paths, or in full" in told.err
        assert all(data.decode() in told.out for data in expected)
        assert SECRET not in told.out


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://10.0.0.1:8786", "not encrypted"),
        ("10.0.0.1:8786", "not encrypted"),
        ("tls://host", "not a scheduler's address"),
        ("http://127.0.0.1:8786", "not a scheduler's address"),
        ("tls://127.0.0.1:1", "needs ca_file, cert_file and key_file"),
        ("config", "needs an address in [cluster]"),
    ],
)
def test_a_scheduler_that_is_not_safe_to_reach_is_refused(
    folder: Path, capsys: Out, address: str, why: str
) -> None:
    sessions(folder, 1)
    assert pinfold(["digest", "home", "--cluster", address, "--yes"]) in (1, 2)
    assert why in capsys.readouterr().err


def test_a_projects_config_names_no_cluster(folder: Path, capsys: Out) -> None:
    sessions(folder, 1)
    (folder / ".pinfold").mkdir()
    (folder / ".pinfold" / "config.toml").write_text('[cluster]\naddress = "tcp://127.0.0.1:9"\n')
    assert pinfold(["digest", "home", "--cluster", "config", "--yes"]) == 2
    assert "needs an address in [cluster] of your config.toml" in capsys.readouterr().err


def test_without_the_extra_one_sentence_says_how_to_get_it(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions(folder, 1)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert pinfold(["digest", "home", "--cluster", "local"]) in (1, 2)
    assert capsys.readouterr().err == f"pinfold: {cluster.MISSING}\n"


def version(pinfold: str | None, python: str = "3.11.7.final.0") -> dict[str, Any]:
    return {"packages": {"pinfold": pinfold, "python": python, "distributed": "1"}}


@pytest.mark.parametrize(
    ("worker", "scheduler", "why"),
    [
        (version("2"), version(None), "tcp://w has pinfold 2, this machine pinfold 1."),
        (version(None), version("1"), "tcp://w has no pinfold, this machine pinfold 1."),
        (version("1"), version("1", "3.12.1"), "the scheduler has Python 3.12, this"),
        (version("1"), version(None), None),
    ],
)
def test_other_versions_are_refused(
    worker: dict[str, Any], scheduler: dict[str, Any], why: str | None
) -> None:
    told = {"client": version("1"), "scheduler": scheduler, "workers": {"tcp://w": worker}}
    client: Any = SimpleNamespace(get_versions=lambda packages: told)
    if why is None:
        cluster.DaskCluster(client)
        return
    with pytest.raises(CommandError) as refused:
        cluster.DaskCluster(client)
    assert str(refused.value).startswith(why)


def mortal(work: SessionWork, name: str, data: bytes) -> bytes | Failed:
    """Its worker ends: each time for one session, once for another."""
    once = Path(work.settings["once"])
    if name == "deadly.jsonl" or (name == "once.jsonl" and not once.exists()):
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return attempt(work, name, data)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_workers_may_end_and_the_session_that_ends_three_is_set_aside(
    folder: Path, cache: Callable[[], Cache], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = sessions(folder, 6)
    bad = [NamedSession(str(folder / f"{name}.jsonl"), str(folder)) for name in ("deadly", "once")]
    for session in bad:
        Path(session.path).write_bytes(b"".join(codex_session().encoded()))
    monkeypatch.setattr("pinfold.many.cluster.attempt", mortal)
    kept = cache()
    work = SessionWork("digest", {**DIGEST.settings, "once": str(folder / "once")}, redact=False)
    with cluster.local(2, ()) as client:
        report = run(work, [*bad, *every], cluster.DaskCluster(client), kept)
    assert report.failed == {0: "3 workers died while working on it."}
    assert report.new == 7


def slow_first(work: SessionWork, name: str, data: bytes) -> bytes | Failed:
    """Says which process has it, so that the test can kill one in the middle."""
    Path(work.settings["workers"], str(os.getpid())).touch()
    return attempt(work, name, data)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_worker_killed_in_the_middle_of_200_sessions_changes_no_byte(
    folder: Path, cache: Callable[[], Cache], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = sessions(folder, 200)
    pids = folder / "pids"
    pids.mkdir()
    work = SessionWork("digest", {**DIGEST.settings, "workers": str(pids)})
    monkeypatch.setattr("pinfold.many.cluster.attempt", slow_first)
    here, there = cache(), cache()
    expected = list(outcomes(run(DIGEST, every, InProcess(), here), every, here))
    killed: list[int] = []

    def kill(report: Any) -> None:
        if report.new == 80 and not killed:
            killed.append(int(min(path.name for path in pids.iterdir())))
            os.kill(killed[0], signal.SIGKILL)

    with cluster.local(2, ()) as client:
        report = run(work, every, cluster.DaskCluster(client, leaves=False), there, kill)
    assert (report.new, report.failed) == (200, {})
    assert list(outcomes(report, every, there)) == expected
    assert len(list(pids.iterdir())) == 3


def certificates(folder: Path, name: str) -> list[str]:
    """An authority, and a certificate that it signed with its key: the paths of the three."""
    from fakes.certificates import Authority

    authority = Authority(f"{name} authority")
    paths: list[str] = []
    for kind, content in zip(
        ("ca", "cert", "key"), (authority.pem, *authority.server(name)), strict=True
    ):
        path = folder / f"{name}-{kind}.pem"
        path.write_bytes(content)
        paths.append(str(path))
    return paths


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_tls_takes_the_users_certificates_and_no_others(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    from distributed import LocalCluster, Security

    monkeypatch.setattr(cluster, "_PATIENCE", 5.0)
    sessions(folder, 2)
    known, strange = certificates(folder, "known"), certificates(folder, "strange")
    ca, cert, key = known
    roles = ("client", "scheduler", "worker")
    files = {
        f"tls_{role}_{kind}": f for role in roles for kind, f in (("cert", cert), ("key", key))
    }
    security = Security(tls_ca_file=ca, require_encryption=True, **files)
    config = folder / "xdg_config_home" / "pinfold" / "config.toml"
    config.parent.mkdir(parents=True)
    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        security=security,
        host="127.0.0.1",
        dashboard_address=None,
    ) as there:
        assert there.scheduler_address.startswith("tls://127.0.0.1:")
        for (ca, cert, key), code in ((known, 0), (strange, 1)):
            lines = {"address": there.scheduler_address} | dict(
                zip(("ca_file", "cert_file", "key_file"), (ca, cert, key), strict=True)
            )
            text = "".join(f'{name} = "{value}"\n' for name, value in lines.items())
            config.write_text(f"[cluster]\n{text}")
            wish = ["digest", "home", "--cluster", "config", "--yes", "--tokens", f"{500 + code}"]
            assert pinfold(wish) == code
        assert "can't be reached" in capsys.readouterr().err

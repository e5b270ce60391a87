"""Whatever breaks in the midst of a compaction: the window before or the window after."""

import asyncio
import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

from fakes.agent import Stage, stage
from fakes.cut_compactions import COMPACTED, MODEL, OPTIONS, REFUSED
from fakes.provider import FakeClock, Step, calls, says
from pinfold.checkpoint import persist
from pinfold.compaction.strategies.registry import registry
from pinfold.rollout.codec import decode
from pinfold.rollout.events import WindowReplaced
from pinfold.rollout.journal import Journal

TESTS = Path(__file__).parents[2]
HALF = 120
"""Bytes beyond the rollout that a disk has left: half of the event."""


def work(turns: int) -> list[list[Step]]:
    script: list[list[Step]] = []
    for turn in range(turns):
        script.append(calls((f"c{turn}", "shell", '{"command": "seq 1 300"}')))
        script.append(says(f"Read part {turn}."))
    return script


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with TemporaryDirectory() as made:  # pytest's own folders are closed to other users
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture(scope="module")
def session(root: Path) -> Path:
    """The folder of a session that has something to compact."""
    return asyncio.run(worked(root))


async def worked(root: Path) -> Path:
    at = await stage(root, work(6), options=OPTIONS, model=MODEL)
    await at.say(*(f"read part {turn}" for turn in range(6)))
    await at.session.close()
    return at.session.folder


@pytest.fixture(scope="module")
def cut(root: Path, session: Path) -> dict[str, str]:
    """How the process of each compaction ended, by the folder that it left."""
    wanted = [
        *("killed", "each"),
        *("failing", "0"),
        *("failing", f"{HALF}"),
        *("dying", f"{HALF}"),
        *("locked", "session"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "fakes.cut_compactions", str(root), str(session), *wanted],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


async def opened(root: Path, name: str, *script: list[Step]) -> Stage:
    now = FakeClock().now
    return await stage(
        root, script, options=OPTIONS, model=MODEL, journal=lambda: Journal.open(root / name, now)
    )


def window(at: Stage) -> list[tuple[int, str]]:
    return [(item.n, item.content) for item in at.session._record.window.items]


async def window_of(root: Path, name: str) -> list[tuple[int, str]]:
    at = await opened(root, name)
    found = window(at)
    await at.session.close()
    return found


@pytest.fixture(scope="module")
def before(root: Path, session: Path) -> list[tuple[int, str]]:
    return asyncio.run(window_of(root, str(session.relative_to(root))))


@pytest.fixture(scope="module")
def after(root: Path, cut: dict[str, str]) -> list[tuple[int, str]]:
    assert cut
    return asyncio.run(window_of(root, "whole"))


async def goes_on(root: Path, name: str) -> None:
    """The session works as any other does, and can be compacted, after what befell it."""
    at = await opened(root, name, *work(2))
    await at.say(*(f"read on {turn}" for turn in range(2)))
    generation = at.session._record.window.generation
    await at.session.compaction.apply(await at.session.compaction.draft("checkpoint"))
    assert at.session._record.window.generation == generation + 1
    await at.session.close()
    folder = root / name
    assert [path.name for path in folder.rglob("*.tmp")] == []
    assert persist.load(folder, msgspec.json.decode((folder / persist.FILE).read_bytes())["seq"])


async def test_a_kill_between_any_two_steps_leaves_the_window_before_or_after(
    root: Path,
    cut: dict[str, str],
    before: list[tuple[int, str]],
    after: list[tuple[int, str]],
) -> None:
    names = [name for name in cut if name.startswith("killed-")]
    assert [cut[name] for name in names] == ["SIGKILL"] * (len(names) - 1) + [str(COMPACTED)]
    assert len(names) > 4, "event and checkpoint are several steps each"
    assert before != after
    found = []
    for name in names:
        found.append(await window_of(root, name))
        assert found[-1] in (before, after), name
    assert found == sorted(found, key=[before, after].index), "once it is there it stays"
    assert (found[0], found[-1]) == (before, after)
    for name in names[1:-1:3]:
        await goes_on(root, name)


@pytest.mark.parametrize(
    ("name", "ended"),
    [
        ("failing-0", str(REFUSED)),
        (f"failing-{HALF}", str(REFUSED)),
        (f"dying-{HALF}", "SIGXFSZ"),
    ],
)
async def test_what_cannot_be_written_leaves_the_window_before(
    root: Path, cut: dict[str, str], before: list[tuple[int, str]], name: str, ended: str
) -> None:
    assert cut[name] == ended
    if name == f"dying-{HALF}":
        assert (root / name / "rollout.jsonl").read_bytes()[-1:] != b"\n", "half a line"
    for path in (root / name, *(root / name).iterdir()):
        path.chmod(0o700)  # the user mends it
    assert await window_of(root, name) == before
    await goes_on(root, name)


def replaced_at(folder: Path) -> int:
    """The event that replaced the window last."""
    lines = (folder / "rollout.jsonl").read_bytes().splitlines()
    events = map(decode, lines)
    return max(event.seq for event in events if isinstance(event.data, WindowReplaced))


async def test_a_checkpoint_file_that_cannot_be_written_is_not_missed(
    root: Path, cut: dict[str, str], after: list[tuple[int, str]]
) -> None:
    assert cut["locked-session"] == str(COMPACTED)
    (root / "locked-session").chmod(0o700)
    found = msgspec.json.decode((root / "locked-session" / persist.FILE).read_bytes())
    assert found["seq"] < replaced_at(root / "locked-session")
    assert await window_of(root, "locked-session") == after
    await goes_on(root, "locked-session")


# Plans of third parties

BROKEN = """
import sys
from threading import Event
from msgspec.structs import replace
from pinfold.compaction.plan import Planned
from pinfold.compaction.refusals import Impossible
from pinfold.compaction.strategies.checkpoint import Checkpoint
from pinfold.rollout.values import PlanBase
from pinfold.rollout.items import Item

REACHED, GATE = Event(), Event()


def without(plan, *numbers):
    items = tuple(
        Planned(item.n, "archive", "", item.before, 0) if item.n in numbers else item
        for item in plan.items
    )
    window = tuple(pair for pair in plan.window if pair[0] not in numbers)
    return replace(plan, items=items, window=window)


class Broken(Checkpoint):
    def plan(self, view, material, options):
        return self.broken(super().plan(view, material, options), view)


class Raises(Broken):
    name = "raises"
    def broken(self, plan, view):
        raise ZeroDivisionError


class Exits(Broken):
    name = "exits"
    def broken(self, plan, view):
        sys.exit("enough")


class Despairs(Broken):
    name = "despairs"
    def broken(self, plan, view):
        raise Impossible([("all of it", 99_999)], 1)


class Hangs(Broken):
    name = "hangs"
    def broken(self, plan, view):
        REACHED.set()
        GATE.wait(60)
        return plan


class Nothing(Broken):
    name = "nothing"
    def broken(self, plan, view):
        return None


class Text(Broken):
    name = "text"
    def broken(self, plan, view):
        return "a summary"


class Hollow(Broken):
    name = "hollow"
    def broken(self, plan, view):
        return replace(plan, items=None, window=None, sizes=None)


class Stale(Broken):
    name = "stale"
    def broken(self, plan, view):
        return replace(plan, base=PlanBase(99, 99))


class Unpins(Broken):
    name = "unpins"
    def broken(self, plan, view):
        return without(plan, *(item.n for item in plan.items if item.verdict == "pin"))


class Splits(Broken):
    name = "splits"
    def broken(self, plan, view):
        stays = dict(plan.window)
        return without(plan, next(
            entry.item.n for entry in reversed(view.entries)
            if entry.item.kind == "tool_result" and entry.item.n in stays
        ))


class Grows(Broken):
    name = "grows"
    def broken(self, plan, view):
        return replace(plan, inserted=(Item(n=0, kind="summary", content="word " * 90_000),))


class Deaf(Broken):
    name = "deaf"
    def broken(self, plan, view):
        return without(plan, view.latest_request.item.n)


class Speaks(Broken):
    name = "speaks"
    def broken(self, plan, view):
        return replace(plan, inserted=(Item(n=0, kind="assistant", content="I did it all."),))
"""
NAMES = [
    *("raises", "exits", "nothing", "text", "hollow", "stale", "unpins", "splits", "grows"),
    *("deaf", "speaks", "despairs"),
]


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package whose strategies are all broken."""
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    points = "".join(
        f"{name} = broken_strategies:{name.capitalize()}\n" for name in (*NAMES, "hangs")
    )
    (info / "entry_points.txt").write_text(f"[pinfold.strategies]\n{points}")
    (tmp_path / "broken_strategies.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.cache_clear()
    yield
    registry.cache_clear()
    sys.modules.pop("broken_strategies", None)


async def test_whatever_a_third_party_plans_the_window_is_whole_and_checkpoint_has_the_last_word(
    broken: None,
    root: Path,
    session: Path,
    before: list[tuple[int, str]],
) -> None:
    shutil.copytree(session, root / "broken")
    at = await opened(root, "broken")
    result = at.items("tool_result")[0]
    await at.session.window.act("pin", [result.n])
    for name in NAMES:
        draft = await at.session.compaction.draft(name)
        assert draft.plan.strategy == "checkpoint", name
        assert draft.plan.notes[-1].startswith(name), draft.plan.notes
        assert window(at) == before, name
    await at.session.compaction.apply(draft)
    assert dict(window(at))[result.n] == result.content


async def test_a_strategy_that_hangs_is_left_with_escape(
    broken: None, root: Path, session: Path, before: list[tuple[int, str]]
) -> None:
    shutil.copytree(session, root / "hanging")
    at = await opened(root, "hanging")
    at.session.compaction.strategy = "hangs"
    at.session.set_threshold("auto")
    at.session.set_threshold("0.1")
    at.session.send("go on")
    hanging = importlib.import_module("broken_strategies")
    try:
        assert await asyncio.to_thread(hanging.REACHED.wait, 60)
        at.session.interrupt()
        await at.session.idle()
        assert at.ended == "interrupted"
    finally:
        hanging.GATE.set()
    assert [text for _, text in window(at)] == [*(text for _, text in before), "go on"]
    await at.session.close()
    await goes_on(root, "hanging")

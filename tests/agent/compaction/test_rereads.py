"""After a compaction, an agent reads again what others changed, and nothing else."""

import json
from pathlib import Path

import pytest
from benchmarks.files_listed import files_listed
from msgspec.structs import replace

from fakes.agent import MODEL, Stage, stage
from fakes.provider import Step, calls, says
from pinfold.agent.options import Options
from pinfold.compaction.view import PlanOptions

FILES = [f"part_{n}.py" for n in range(8)]
EDITED, CHANGED, GONE = FILES[::3], [FILES[1], FILES[3]], FILES[7]
OPTIONS = Options(
    approvals="full", auto="off", compact=PlanOptions(max_tail_messages=2, target_pct=0.5)
)


def read(name: str) -> tuple[str, str, str]:
    return f"r-{name}", "read_file", json.dumps({"path": name})


def write(name: str) -> tuple[str, str, str]:
    content = f"# new {name}\n"
    return f"w-{name}", "write_file", json.dumps({"path": name, "content": content})


@pytest.fixture
async def at(tmp_path: Path) -> Stage:
    """A session that has read the files, changed some of them, and then did other things."""
    work = tmp_path / "work"
    work.mkdir()
    for name in FILES:
        (work / name).write_text(f"# {name}\n" + "x = 1\n" * 200)
    script: list[list[Step]] = [calls(*map(read, FILES)), calls(*map(write, EDITED)), says("Done.")]
    script += [says("Nothing to do there. " * 100)] * 3
    model = replace(MODEL, context_window=32_000)
    at = await stage(tmp_path, script, options=OPTIONS, model=model)
    for prompt in ("read the parts", "and then?", "and then?", "and then?"):
        await at.say(prompt)
    return at


async def reread(at: Stage) -> list[str]:
    """What an agent reads with the next request: every file that it does not know as unchanged,
    or as deleted."""
    at.provider.script.append(says("I see."))
    await at.say("go on")
    told = files_listed("\n".join(item.content for item in at.provider.requests[-1].items))
    return [name for name in FILES if told.get(name) not in ("unchanged", "deleted")]


async def compact(at: Stage) -> None:
    await at.session.compaction.apply(await at.session.compaction.draft("checkpoint"))


async def test_what_is_unchanged_is_not_read_again(at: Stage) -> None:
    await compact(at)
    assert await reread(at) == []


async def test_what_others_changed_is_read_again_and_nothing_else(at: Stage) -> None:
    for name in CHANGED:
        (at.session.cwd / name).write_text("# by the user\n")
    (at.session.cwd / GONE).unlink()
    await compact(at)
    assert await reread(at) == CHANGED


async def test_what_was_changed_and_put_back_is_not(at: Stage) -> None:
    file = at.session.cwd / FILES[1]
    content = file.read_text()
    file.write_text("# by the user\n")
    await at.session.compaction.known()
    file.write_text(content)
    await compact(at)
    assert await reread(at) == []


async def test_with_a_plain_tail_all_are_read_again(at: Stage) -> None:
    shown = [item.n for item in at.session.items]
    await at.session.window.act("fold", shown[:-2])
    assert await reread(at) == FILES

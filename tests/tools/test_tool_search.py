import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinfold.ports.tool import Observation, ToolError
from pinfold.tools.workspace import hash_file

Run = Callable[..., Any]


@pytest.fixture
def repository(work: Path) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    (work / ".gitignore").write_text("*.log\nbuild/\n")
    for name, text in {
        "a.py": "import os\n\ndef find(x):\n    return x\n\n\n\nfind(1)\n",
        "src/b.py": "def find(y):\r\n    pass\r\n",
        "src/latin": "FIND caf\xe9\n",
        "noise.log": "def find(z)\n",
        "build/out.py": "def find(z)\n",
    }.items():
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_bytes(text.encode("latin-1"))
    (work / "bin").write_bytes(b"\0find\0")
    return work


@pytest.fixture(params=["ripgrep", "own"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both searches must show the same."""
    if request.param == "own":
        git = Path(subprocess.check_output(["sh", "-c", "command -v git"], text=True).strip())
        only_git = request.getfixturevalue("tmp_path") / "path"
        only_git.mkdir()
        (only_git / "git").symlink_to(git)
        monkeypatch.setenv("PATH", str(only_git))
    return str(request.param)


async def test_matches_come_by_file_with_numbers(run: Run, repository: Path, engine: str) -> None:
    outcome = await run("grep", pattern=r"\bfind\(")
    assert outcome.output == "a.py\n3:def find(x):\n8:find(1)\n\nsrc/b.py\n1:def find(y):"
    assert outcome.detail == {"matches": 3}


async def test_the_files_with_matches_are_observed(run: Run, repository: Path, engine: str) -> None:
    outcome = await run("grep", pattern=r"\bfind\(")
    assert outcome.observations == (
        Observation(".", "file", "list"),
        Observation("a.py", "file", "read", hash_file(repository / "a.py")),
        Observation("src/b.py", "file", "read", hash_file(repository / "src/b.py")),
    )
    alone = await run("grep", pattern="nowhere at all", path="a.py")
    assert alone.observations == (
        Observation("a.py", "file", "read", hash_file(repository / "a.py")),
    )
    for n in range(60):
        (repository / f"many{n}").write_text("needle\n")
    assert len((await run("grep", pattern="needle")).observations) == 1 + 50


async def test_context_case_and_glob(run: Run, repository: Path, engine: str) -> None:
    outcome = await run("grep", pattern=r"find\(", path="a.py", context=1)
    assert outcome.output == ("a.py\n2-\n3:def find(x):\n4-    return x\n--\n7-\n8:find(1)")
    loud = await run("grep", pattern="find", glob="src/*", ignore_case=True)
    assert loud.output == "src/b.py\n1:def find(y):\n\nsrc/latin\n1:FIND caf\ufffd"
    below = await run("grep", pattern="pass", path="src", glob="*.py")
    assert below.output == "src/b.py\n2:    pass"
    assert (await run("grep", pattern="pass", path="src", glob="src/*")).output == "No match."
    assert (await run("grep", pattern="nowhere at all")).output == "No match."


async def test_an_ignored_file_is_searched_when_named(
    run: Run, repository: Path, engine: str
) -> None:
    outcome = await run("grep", pattern="find", path="noise.log")
    assert outcome.output == "noise.log\n1:def find(z)"


async def test_links_are_not_followed(
    run: Run, repository: Path, tmp_path: Path, engine: str
) -> None:
    (tmp_path / "secret").write_text("find me\n")
    (repository / "link").symlink_to(tmp_path / "secret")
    assert (await run("grep", pattern="find me")).output == "No match."


async def test_a_broken_pattern_is_told(run: Run, repository: Path, engine: str) -> None:
    with pytest.raises(ToolError, match="regex parse error"):
        await run("grep", pattern="(unclosed")


async def test_very_many_matches_are_cut(run: Run, repository: Path, engine: str) -> None:
    (repository / "many").write_text("needle\n" * 100_000)
    outcome = await run("grep", pattern="needle")
    assert outcome.detail == {"matches": 200}
    assert outcome.output.endswith("[the first 200 matches; narrow the search for others]")
    (repository / "many").write_text(("needle" * 10_000 + "\n") * 50)
    assert len((await run("grep", pattern="needle")).output) < 20_000


async def test_glob_leaves_out_what_git_ignores(run: Run, repository: Path) -> None:
    assert (await run("glob", pattern="*.py")).output == "a.py\nsrc/b.py"
    assert (await run("glob", pattern="src/**")).output == "src/b.py\nsrc/latin"
    assert (await run("glob", pattern="*.{py,log}", path="src")).output == "src/b.py"
    assert (await run("glob", pattern="*.rs")).output == "No file matches."
    (repository / "a.py").unlink()
    assert (await run("glob", pattern="a.*")).output == "No file matches."


async def test_an_ignored_folder_is_searched_when_named(run: Run, repository: Path) -> None:
    assert (await run("glob", pattern="*.py", path="build")).output == "build/out.py"


async def test_glob_without_a_repository_leaves_out_clutter(run: Run, work: Path) -> None:
    for name in ("x.js", "node_modules/y.js", ".hidden/z.js"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text("")
    assert (await run("glob", pattern="*.js")).output == ".hidden/z.js\nx.js"


async def test_patterns_that_go_too_far_are_refused(run: Run, work: Path) -> None:
    with pytest.raises(ToolError, match="relative"):
        await run("glob", pattern="/etc/*")
    with pytest.raises(ToolError, match="too wide"):
        await run("glob", pattern="{1..99999}")

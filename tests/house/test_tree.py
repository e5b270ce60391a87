"""What stands in the tree, and what must not."""

import os
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from pwd import getpwuid

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
MODULES = {
    "markdown-it-py": "markdown_it",
    "lxml-html-clean": "trafilatura",
    "python-frontmatter": "frontmatter",
    "pyyaml": "yaml",
}
"""What a package is imported as, where its name does not tell. Trafilatura needs lxml's cleaner as
an extra whose name older installers do not find."""
REGISTRY = re.compile(r"pypi\.org|pythonhosted\.org|--(extra-)?index-url|--find-links")


def tree() -> Iterator[Path]:
    """All files but those that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            yield ROOT / name


def naming(pattern: re.Pattern[str]) -> list[str]:
    """The files that name it, this one left out."""
    return [
        str(path.relative_to(ROOT))
        for path in tree()
        if path != Path(__file__) and pattern.search(path.read_text("utf-8", errors="replace"))
    ]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {canonicalize_name(name): version for name, version in (x.split("==") for x in lines)}


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = chain.from_iterable(project["optional-dependencies"].values())
    return [Requirement(line) for line in chain(project["dependencies"], extras)]


def test_no_file_names_a_package_registry() -> None:
    assert naming(REGISTRY) == []


def test_no_file_names_a_place_on_this_machine() -> None:
    places = [place for place in (ROOT, Path(getpwuid(os.getuid()).pw_dir)) if len(place.parts) > 2]
    for place in places:
        assert naming(re.compile(rf"(?<![\w/]){re.escape(str(place))}\b")) == []


def test_constraints_pin_names_to_versions() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.+]+", line)] == []


def test_constraints_satisfy_every_requirement() -> None:
    pinned = pins()
    for requirement in requirements():
        version = pinned[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


def test_every_dependency_is_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    source = "\n".join(path.read_text() for path in (ROOT / "app").rglob("*.py"))
    for line in project["dependencies"]:
        name = Requirement(line).name
        module = MODULES.get(name, name).replace("-", "_")
        assert re.search(rf'(import|from) {module}\b|"{name}"', source), name


def test_every_folder_of_snapshots_belongs_to_a_test_module() -> None:
    modules = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    folders = {path.name for path in (ROOT / "snapshots").glob("*/")}
    assert folders - modules == set()


def test_test_modules_have_names_of_their_own() -> None:
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_agents_md_stays_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) < 120


def test_files_of_the_package_stay_short() -> None:
    files = [*(ROOT / "app").rglob("*.py"), *(ROOT / "app").rglob("*.tcss")]
    lines = {path: len(path.read_text().splitlines()) for path in files}
    assert lines
    assert [str(path.relative_to(ROOT)) for path, count in lines.items() if count > 350] == []

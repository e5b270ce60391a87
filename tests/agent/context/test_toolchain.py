"""What the host says of the machine and of the project's tools."""

import os
from pathlib import Path

import pytest

from pinfold.agent.context.toolchain import env_of, toolchain


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.11"\n', "python >=3.11"),
        ("pyproject.toml", "[tool.ruff]\n", "python"),
        ("package.json", '{"engines": {"node": "22.x", "npm": ">=10"}}', "node 22.x"),
        ("package.json", "{}", "node"),
        ("Cargo.toml", '[package]\nrust-version = "1.80"\n', "rust 1.80"),
        ("Cargo.toml", '[workspace.package]\nrust-version = "1.81"\n', "rust 1.81"),
        ("rust-toolchain.toml", '[toolchain]\nchannel = "stable"\n', "rust stable"),
        ("rust-toolchain", "nightly-2026-01-01\n", "rust nightly-2026-01-01"),
        ("go.mod", "module a\n\ngo 1.24\n\ntoolchain go1.24.3\n", "go 1.24"),
        (".python-version", "3.12.1\n", "python 3.12.1"),
        (".ruby-version", "3.4\n", "ruby 3.4"),
        (".nvmrc", "v22\n", "node v22"),
        (".tool-versions", "# ours\nnodejs 22.1.0\ngolang 1.24 1.23\n", "go 1.24, node 22.1.0"),
        ("README.md", "python 3\n", ""),
        ("pyproject.toml", "[project\n", "python"),
        ("package.json", "[" * 100_000, "node"),
        ("package.json", '{"engines": {"node": 22}}', "node"),
        (
            ".python-version",
            "\x1b[31m3.12 " + "9" * 500 + "\n",
            "python ␛[31m3.12 " + "9" * 29 + "…",
        ),
        (".python-version", "", "python"),
    ],
)
def test_it_is_told_by_the_projects_files(work: Path, file: str, text: str, told: str) -> None:
    (work / file).write_text(text)
    assert toolchain(work) == told


def test_a_pinned_version_counts_before_a_range_and_the_nearest_file_first(work: Path) -> None:
    inner = work / "inner"
    inner.mkdir()
    (work / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.11"\n')
    (work / ".python-version").write_text("3.12\n")
    (work / "package.json").write_text("{}")
    assert toolchain(work) == "node, python 3.12"
    (inner / ".python-version").write_text("3.13\n")
    assert toolchain(inner) == "node, python 3.13"


def test_neither_a_link_out_of_the_project_nor_a_pipe_is_read(work: Path) -> None:
    (work.parent / "secret").write_text("a private key")
    (work / ".python-version").symlink_to("../secret")
    os.mkfifo(work / ".nvmrc")
    assert toolchain(work) == ""
    (work / "package.json").mkdir()
    assert toolchain(work) == ""


def test_the_system_is_named_with_its_version(work: Path) -> None:
    (work / ".nvmrc").write_text("22")
    found = env_of(work)
    assert found["os"].split()[-1] == os.uname().machine
    assert (found["toolchain"], found["cwd"]) == ("node 22", str(work))

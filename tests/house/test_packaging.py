"""What a wheel carries."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def files(folder: Path) -> set[str]:
    """All files below `folder`, relative to it, without bytecode."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_a_wheel_carries_the_package_and_the_themes(tmp_path: Path) -> None:
    """Prompts, styles and the demo are files of the package; the themes lie beside it."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    carried = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}

    package = {f"pinfold/{name}" for name in files(ROOT / "app" / "pinfold")}
    themes = {f"pinfold/themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")}
    assert carried >= package | themes
    assert carried <= package | {f"pinfold/themes/{name}" for name in files(ROOT / "themes")}

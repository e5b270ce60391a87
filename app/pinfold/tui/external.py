"""The user's own editor."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path


def edit(text: str) -> str:
    """`text` as the user leaves it in `$VISUAL` or `$EDITOR`. Blocking. Raises `OSError`."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="pinfold-") as folder:
        path = Path(folder) / "prompt.md"
        path.write_text(text, encoding="utf-8")
        status = subprocess.run([*shlex.split(command), str(path)], check=False).returncode
        if status:
            raise OSError(f"{command} ended with {status}")
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")

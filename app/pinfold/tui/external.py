"""What takes the terminal for a while: the user's own editor, and the shell."""

import os
import shlex
import signal
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


def stop_job() -> None:
    """Stop as the terminal itself would for Ctrl+Z; returns when the shell continues us.

    All of the job stops: the shell would wait for ever for a `make run` that goes on. Where no
    shell could continue it, nothing stops.
    """
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        os.kill(0, signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, before)

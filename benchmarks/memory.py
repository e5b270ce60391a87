"""What a process has in memory."""

from pathlib import Path


def pss(pid: int | str = "self") -> float:
    """MiB of the process alone, shared pages divided among their users (Linux)."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(
        int(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Pss:")
    )

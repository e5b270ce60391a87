"""A stand-in for `rg --json` where ripgrep is missing: the same messages, from Python's `re`.

Run as a script, with the paths on standard input, each ended by NUL. A process of its own,
because a hopeless pattern can be stopped only by ending the process.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

MAX_FILE = 10_000_000
"""Bytes. Larger files are left out."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ignore-case", action="store_true")
    parser.add_argument("--context", type=int, default=0)
    parser.add_argument("pattern")
    given = parser.parse_args()
    try:
        pattern = re.compile(given.pattern, re.IGNORECASE if given.ignore_case else 0)
    except re.error as error:
        print(f"regex parse error: {error}")
        return 2
    for name in sys.stdin.buffer.read().split(b"\0"):
        if name:
            _search(Path(os.fsdecode(name)), pattern, given.context)
    return 0


def _search(path: Path, pattern: re.Pattern[str], context: int) -> None:
    try:
        # As ripgrep does: a link may lead to where nobody has been asked to look.
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE:
            return
        data = path.read_bytes()
    except OSError:
        return
    if b"\0" in data:
        return
    lines = data.decode(errors="replace").removesuffix("\n").split("\n")
    hits = [n for n, line in enumerate(lines) if pattern.search(line.removesuffix("\r"))]
    if not hits:
        return
    hit = set(hits)
    shown = {
        n for at in hits for n in range(max(at - context, 0), min(at + context + 1, len(lines)))
    }
    _print_line("begin", {"path": {"text": str(path)}})
    for n in sorted(shown):
        line = {"path": {"text": str(path)}, "lines": {"text": lines[n]}, "line_number": n + 1}
        _print_line("match" if n in hit else "context", line)
    _print_line("end", {"path": {"text": str(path)}})


def _print_line(kind: str, data: dict[str, Any]) -> None:
    print(json.dumps({"type": kind, "data": data}), flush=kind == "end")


if __name__ == "__main__":
    sys.exit(main())

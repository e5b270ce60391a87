"""`python -m benchmarks [--write] [NAME ...]`: all, or those named.

All together also write RESULTS.md; of those named, `--write` writes their sections alone.
"""

import importlib
import os
import pkgutil
import sys
from pathlib import Path

from benchmarks import results, soak
from benchmarks.figures import Figure, conditions, table
from pinfold.wiring.screen import FRAMES_PER_SECOND

HERE = Path(__file__).parent


def main() -> int:
    # As the shell itself has it; Textual reads it when imported.
    os.environ.setdefault("TEXTUAL_FPS", str(FRAMES_PER_SECOND))
    found = [m.name for m in pkgutil.iter_modules([str(HERE)]) if m.name.startswith("bench_")]
    named = [name for name in sys.argv[1:] if name != "--write"]
    wanted = [f"bench_{name.removeprefix('bench_')}" for name in named]
    if unknown := set(wanted) - set(found):
        print(f"No such benchmark: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    sections: dict[str, str] = {}
    for name in wanted or found:
        module = importlib.import_module(f"benchmarks.{name}")
        title = (module.__doc__ or name).splitlines()[0]
        print(f"# {title}", flush=True)
        figures: list[Figure] = []
        for figure in module.run():
            print(figure.line(), flush=True)
            figures.append(figure)
        sections[title] = table(figures)
    if not wanted:
        results.write(f"# Results\n\n{conditions()}", sections, keep=[soak.TITLE])
    elif "--write" in sys.argv:
        for title, text in sections.items():
            results.write_section(title, f"{conditions()}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The `pinfold` command."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns 0 done, 1 failed, 2 wrong use; never shows a traceback."""
    argv = sys.argv[1:] if argv is None else argv
    if list(argv) in (["--version"], ["-V"]):  # before anything heavy is imported
        from pinfold import __version__

        print(f"pinfold {__version__}")
        return 0
    from pinfold.cli import run

    return run(argv)


if __name__ == "__main__":
    raise SystemExit(main())

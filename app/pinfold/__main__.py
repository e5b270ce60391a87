"""The `pinfold` command."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns 0 done, 1 failed, 2 wrong use; never shows a traceback."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if argv in (["--version"], ["-V"]):  # before anything heavy is imported
        from pinfold import __version__

        print(f"pinfold {__version__}")
        return 0
    if argv[:1] == ["digest"] and "--hook" in argv:  # another agent waits, and is never kept
        from pinfold.other_agents.guard import run as answering

        return answering(lambda: _hook_answer(argv))
    from pinfold.cli import run

    return run(argv)


def _hook_answer(argv: list[str]) -> str:
    """What `pinfold digest --hook` answers. Raises whatever goes wrong."""
    tokens = 8_000
    if argv != ["digest", "--hook"]:
        from pinfold.cli import parse

        tokens = parse(argv).tokens
    from pinfold.other_agents.answer import answer

    return answer(sys.stdin.buffer.read(), tokens)


if __name__ == "__main__":
    raise SystemExit(main())

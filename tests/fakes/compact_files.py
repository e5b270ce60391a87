"""A Codex rollout that has a window to compact."""

from fakes.foreign import Codex

LIMIT = 20_000


def working(turns: int = 12) -> Codex:
    """Turns in which the agent reads a file and says what is in it."""
    made = Codex()
    made.meta()
    made.turn_context()
    for turn in range(1, turns + 1):
        made.user(f"Make part {turn} faster. Keep port 80{turn:02}.")
        made.call(f"call_{turn}", f"cat src/part_{turn}.py")
        lines = (f"def function_{turn}_{line}(value): ..." for line in range(60))
        made.result(f"call_{turn}", "\n".join(lines))
        made.assistant(f"Part {turn} is \x1b[31mfaster\x1b[0m now: see docs/part_{turn}.md.")
    made.tokens(11_000, LIMIT)
    return made


def encoded(turns: int = 12) -> bytes:
    return b"".join(working(turns).encoded())

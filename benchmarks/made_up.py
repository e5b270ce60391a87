"""Made-up sessions of pinfold's, as many as are wanted: a seed gives the same ones each time.

`python -m benchmarks.made_up HOME COUNT` writes them below `HOME/sessions`.

Half have fewer than 20 items and one in fifty more than 90; on average one has 15 KB. Their
words are as common and as rare as those of a language are, and each session has an identifier, an
error and files of its own.
"""

import json
import random
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path

from pinfold.rollout import codec
from pinfold.rollout.events import (
    SCHEMA,
    Data,
    Event,
    ItemAdded,
    ModelChanged,
    SessionStarted,
    TurnFinished,
    TurnStarted,
)
from pinfold.rollout.items import Item
from pinfold.rollout.journal import ROLLOUT

BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
_WORDS, _SENTENCES = 8_000, 20_000
_SYLLABLES = (  # noqa: SIM905
    "ba be bi co cu da de di fa fe ga go ha in ka la le li lo ma me mi mo na ne no pa pe po ra re "
    "ri ro sa se si so ta te ti to tu va ve vi wa we zo"
).split()
_COMMON = (  # noqa: SIM905
    "the a to of and in is it for that on with as this be not are from by we at or an if has can "
    "test file error build server config request returns value should path line code function "
    "class run fix add change why when new old user data type check cache parser token session"
).split()
_TOOLS = ("read_file", "shell", "apply_patch")


def write(home: Path, count: int, seed: int = 1, first: int = 0) -> Iterator[Path]:
    """Write sessions `first` to `first + count`; each rollout's path, once it is there.

    The n-th is the same whatever the others are.
    """
    for number in range(first, first + count):
        at, session, lines = made(number, seed)
        folder = home / "sessions" / f"{at:%Y}" / f"{at:%m}" / f"{at:%d}" / session
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        path = folder / ROLLOUT
        path.write_bytes(lines)
        path.chmod(0o600)
        yield path


def made(number: int, seed: int = 1) -> tuple[datetime, str, bytes]:
    """When a session began, its id, and its rollout."""
    chance = random.Random(f"{seed} {number}")
    at = BEGAN + timedelta(minutes=5 * number)
    stamp = int(at.timestamp() * 1000)
    head = (stamp << 80) | (7 << 76) | (chance.getrandbits(12) << 64)
    session = str(uuid.UUID(int=head | (2 << 62) | chance.getrandbits(62)))
    project = f"/work/project{number % 200}"
    every = enumerate(_events(number, session, project, chance), 1)
    lines = (codec.encode(Event(seq, at + timedelta(seconds=seq), data)) for seq, data in every)
    return at, session, b"".join(line + b"\n" for line in lines)


def _events(number: int, session: str, project: str, chance: random.Random) -> Iterator[Data]:
    yield SessionStarted(schema=SCHEMA, id=session, cwd=project, version="0", source="shell")
    yield ModelChanged(
        provider="made-up", model="gpt-5.2", context_window=272_000, window_source="table"
    )
    files = [f"src/{_word(chance)}/{_word(chance)}_{number}.py" for _ in range(3)]
    own = f"{_word(chance)}_{_word(chance)}_{number}"
    n = response = 0
    for turn in range(1, min(40, 1 + int(chance.lognormvariate(0.7, 0.9))) + 1):
        yield TurnStarted(turn=turn)
        n += 1
        asked = f"{_text(chance, 1, 4)} Look at {chance.choice(files)} and {own}."
        yield ItemAdded(item=Item(n=n, kind="user", content=asked, turn=turn))
        for step in range(chance.randint(1, 4)):
            response += 1
            for item in _step(turn, response, step, files, own, chance):
                n += 1
                yield ItemAdded(item=Item(n=n, turn=turn, response=response, **item))
        response += 1
        n += 1
        said = f"{_text(chance, 2, 5)} `{own}` is in {chance.choice(files)}."
        yield ItemAdded(
            item=Item(n=n, kind="assistant", content=said, turn=turn, response=response)
        )
        yield TurnFinished(turn=turn, state="done")


def _step(
    turn: int, response: int, step: int, files: list[str], own: str, chance: random.Random
) -> Iterator[dict[str, object]]:
    """A call and its result, the fields of two items."""
    file = chance.choice(files)
    tool = _TOOLS[(turn + step) % len(_TOOLS)]
    ok, detail = True, {}
    match tool:
        case "read_file":
            given = {"path": file}
            text = _text(chance, 10, 40, "\n")
            detail = {"act": "read", "paths": [file]}
        case "shell":
            given = {"command": f"pytest -q {file}"}
            ok = chance.random() < 0.7
            failure = f"E   ValueError: {own} is {chance.randint(1, 9_999)}\n"
            text = _text(chance, 3, 20, "\n") + ("\n12 passed" if ok else f"\n{failure}1 failed")
            detail = {"act": "run", "command": given["command"], "exit_code": int(not ok)}
        case _:
            line = f"{own} = {chance.randint(1, 9_999)}"
            given = {"patch": f"*** Update File: {file}\n@@\n-{own} = None\n+{line}\n"}
            text = f"Changed {file}"
            detail = {"act": "edit", "paths": [file], "diff": f"@@\n-{own} = None\n+{line}\n"}
    call = f"call_{response}"
    yield {"kind": "tool_call", "call_id": call, "name": tool, "content": json.dumps(given)}
    detail = {**detail, "ok": ok}
    yield {"kind": "tool_result", "call_id": call, "name": tool, "content": text, "detail": detail}


def _text(chance: random.Random, least: int, most: int, between: str = " ") -> str:
    return between.join(chance.choices(_sentences(), k=chance.randint(least, most)))


def _word(chance: random.Random) -> str:
    words = _words()
    return words[int(len(words) * chance.random())]


@cache
def _words() -> list[str]:
    """The most common first."""
    chance = random.Random("words")
    found = dict.fromkeys(_COMMON)
    while len(found) < _WORDS:
        found["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4)))] = None
    return list(found)


@cache
def _sentences() -> list[str]:
    chance = random.Random("sentences")
    words = _words()
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    return [
        " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(5, 18))).capitalize()
        + "."
        for _ in range(_SENTENCES)
    ]


if __name__ == "__main__":
    home, wanted = Path(sys.argv[1]), int(sys.argv[2])
    size = sum(path.stat().st_size for path in write(home, wanted))
    print(f"{wanted:,} sessions, {size / 1e6:,.0f} MB, below {home / 'sessions'}")

"""Digests and plans to the byte, whatever the hash seed."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import msgspec
from fakes.compactions import planned, session
from pinfold.checkpoint.core import suggestions
from pinfold.digests.choice import choose, render
from pinfold.rollout.events import ItemAdded, PinsChanged
from pinfold.rollout.items import Item

live = session(12)
alike = [f"lib/{at}/{name}_{n}.py" for at in "abcd" for name in ("io", "net") for n in range(9)]
said = [*alike, *(f"https://example.org/{n}" for n in range(9))]
said += [f"parseThing{n}" for n in range(40)]
for kind, text in (
    ("tool_call", '{"command": "make check"}'),
    ("tool_result", "\\n".join(said) + "\\nport = 8080\\nE   KeyError: 'a'\\n3 failed, 9 passed"),
    ("assistant", "Shall I use SQLite? Next: the cache, and " + ", ".join(said[::7])),
    ("user", "Yes. Never touch lib/a, use tabs, and keep the port at 8081. Is lib/b used?"),
):
    call = "x" if kind.startswith("tool") else None
    item = Item(n=live.next_n, kind=kind, content=text, response=90, call_id=call, name="shell")
    live.add(ItemAdded(item=item))
live.add(PinsChanged(add=("src/part_1.py", "lib/**")))
for budget in (150, 400, 1_200, 4_000):
    print(render(choose(live.known.record, budget)))
print(suggestions(live.known.record, live.known.core, 400))
for size in (4_000, 9_000):
    for name in ("prune", "checkpoint", "layered"):
        print(msgspec.json.encode(planned(live.view(size, size // 4), name)))
"""


def test_the_bytes_are_the_same_under_any_hash_seed() -> None:
    told = {said(seed) for seed in ("0", "1", "2")}
    assert len(told) == 1


def said(seed: str) -> bytes:
    environment = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

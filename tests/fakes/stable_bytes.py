"""What is the same bytes on any machine: checkpoint, view, digests and plans of a session."""

import msgspec

from fakes.checkpoints import example, reduced
from fakes.compactions import planned, session
from pinfold.checkpoint.core import suggestions
from pinfold.checkpoint.persist import encode
from pinfold.checkpoint.view import view_v1
from pinfold.digests.choice import choose, render
from pinfold.rollout.events import ItemAdded, PinsChanged
from pinfold.rollout.items import Item, Kind

ALIKE = [f"lib/{at}/{name}_{n}.py" for at in "abcd" for name in ("io", "net") for n in range(9)]
SAID = [*ALIKE, *(f"https://example.org/{n}" for n in range(9))]
SAID += [f"parseThing{n}" for n in range(40)]
TALK: list[tuple[Kind, str]] = [
    ("tool_call", '{"command": "make check"}'),
    ("tool_result", "\n".join(SAID) + "\nport = 8080\nE   KeyError: 'a'\n3 failed, 9 passed"),
    ("assistant", "Shall I use SQLite? Next: the cache, and " + ", ".join(SAID[::7])),
    ("user", "Yes. Never touch lib/a, use tabs, and keep the port at 8081. Is lib/b used?"),
]


def stable_bytes() -> bytes:
    checkpoint = reduced(example()).snapshot()
    live = session(12)
    for kind, text in TALK:
        call = "x" if kind.startswith("tool") else None
        item = Item(n=live.next_n, kind=kind, content=text, response=90, call_id=call, name="shell")
        live.add(ItemAdded(item=item))
    live.add(PinsChanged(add=("src/part_1.py", "lib/**")))
    record = live.known.record
    digests = [render(choose(record, budget)) for budget in (150, 400, 1_200, 4_000)]
    suggested = str(suggestions(record, live.known.core, 400))
    plans = [
        msgspec.json.encode(planned(live.view(size, size // 4), name))
        for size in (4_000, 9_000)
        for name in ("prune", "checkpoint", "layered")
    ]
    texts = [view_v1(checkpoint), *digests, suggested]
    return b"\n".join([encode(checkpoint), *(text.encode() for text in texts), *plans])

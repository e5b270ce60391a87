"""Sessions as they are exported."""

from collections.abc import Iterator

from fakes import histories
from fakes.windows import IMAGE, MODEL
from pinfold.commands.export import opening
from pinfold.export.transcript import ExportedItem, ExportedSession
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import AgentsFile, Context
from pinfold.rollout.events import Data, ItemAdded, ItemsMarked, PinsChanged, WindowReplaced
from pinfold.rollout.items import Item, Origin
from pinfold.rollout.values import PlanBase, Sizes
from pinfold.window.window import Window

ID = "0197f3a2-7c10-7d2e-9b1e-0123456789ab"
WRITER = ModelInfo("gpt-5.2", "openai", 272_000, "table")
CONTEXT = Context(
    instructions="You are pinfold.", agents=(AgentsFile("/repo/AGENTS.md", "Use tabs."),)
)
REPLY = """\
## Found it

The file is read **twice**, see [the docs](https://example.com/a?b=1&c=2):

| read | by |
|---|---|
| 1 | `load()` |

```python
def load(path: str) -> str:
    return "<b>" + path  # once
```

<script>alert("no")</script> and [a trap](javascript:alert(1)) and ![a picture](https://example.com/x.png)
"""
DIFF = "--- a/config.py\n+++ b/config.py\n@@ -1,2 +1,2 @@\n import os\n-read()\n+read_once()\n"


def small() -> list[Data]:
    """A session with one of each kind, pinned, masked, folded, and compacted once."""
    return [
        *(ItemAdded(item=item) for item in _before()),
        PinsChanged(add=(1,)),
        ItemsMarked(items=((4, "masked"), (5, "placeholder"))),
        WindowReplaced(
            generation=1,
            base=PlanBase(0, 12),
            reason="threshold",
            strategy="checkpoint",
            window=((1, "full"), (3, "full"), (4, "masked"), (5, "placeholder"), (9, "full")),
            inserted=(Item(n=9, kind="summary", content="# So far\nThe config was read twice."),),
            tokens=Sizes(180_400, 61_000),
        ),
        *(ItemAdded(item=item) for item in _after()),
    ]


def _before() -> Iterator[Item]:
    yield Item(
        n=1, kind="user", content="Why is <config> read *twice*?\n```\n# a log", images=(IMAGE,)
    )
    yield Item(n=2, kind="reasoning", content="Look at `config.py` first.", response=1)
    yield from _call(3, 1, "shell", '{"command": "grep -n read *.py | head"}', "1: read()\n```\nx")
    yield Item(n=5, kind="assistant", content=REPLY, response=2, origin=Origin("openai", "gpt-5.2"))
    yield Item(n=6, kind="user", content="Then mend it.")
    yield from _call(7, 3, "edit_file", '{"path": "config.py", "old": "r", "new": "s"}', "Edited.")


def _after() -> Iterator[Item]:
    yield Item(n=10, kind="user", content="Do the tests pass?")
    yield from _call(11, 4, "shell", '{"command": "pytest"}', "\x1b[31mFAILED\x1b[0m", exit_code=1)
    yield Item(n=13, kind="assistant", content="Not yet:\n```\nE  assert", response=5)


def _call(
    n: int, response: int, name: str, arguments: str, output: str, **detail: object
) -> tuple[Item, Item]:
    ids = {"call_id": f"call_{n}", "name": name, "response": response}
    detail = {"ok": "exit_code" not in detail, **detail}
    if name == "edit_file":
        detail["diff"] = DIFF
    call = Item(n=n, kind="tool_call", content=arguments, **ids)
    return call, Item(n=n + 1, kind="tool_result", content=output, detail=detail, **ids)


def transcript(
    data: list[Data], model: ModelInfo = MODEL, context: Context = CONTEXT
) -> ExportedSession:
    """What these events come to."""
    window = Window()
    for event in histories.events(data):
        window.step(event)
    items = [window.archive[n] for n in window.archive]
    return ExportedSession(
        opening=opening(items),
        session=ID,
        cwd="/repo",
        model=model,
        context=context,
        entries=[
            ExportedItem(
                item, window.archive.at(item.n), window.form(item.n), window.is_pinned(item.n)
            )
            for item in items
        ],
        window=window.items,
        boundaries=tuple(window.boundaries),
    )

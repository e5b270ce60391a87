"""An app that is one transcript, and items for it."""

import json
from collections.abc import Iterator
from typing import Any

from textual.app import App, ComposeResult

from pinfold.rollout.items import Item
from pinfold.tui.transcript.view import Transcript

REPLY = """# What I found

The **parser** reads `app/config.py` *twice*; the second read sees an empty buffer. See
[the docs](https://docs.python.org/3/library/io.html).

1. Read once, keep the bytes.
2. Parse from memory:
   - keep the encoding
   - keep line ends

```python
def read(self) -> bytes:
    \"\"\"At most `limit` bytes.\"\"\"
    return self.path.read_bytes()[: self.limit]  # once
```

| option | default | what it does |
|:--|--:|---|
| `limit` | 4096 | how much is read, at most |
| `strict` | no | unknown keys are errors |

> Worth keeping.
"""
DIFF = """--- a/app/config.py
+++ b/app/config.py
@@ -10,5 +10,5 @@
     path: Path

     def read(self):
-        self.path.open().read()
-        return self.path.open().read()
+        self._bytes = self.path.read_bytes()
+        return self._bytes
@@ -40,2 +40,2 @@
-LIMIT = 1
+LIMIT = 2
 END = 3
"""


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.transcript = Transcript()

    def compose(self) -> ComposeResult:
        yield self.transcript


def call(
    n: int, name: str, arguments: dict[str, Any], output: str, **detail: Any
) -> tuple[Item, Item]:
    """A tool call `n` and its result."""
    made = Item(n=n, kind="tool_call", name=name, call_id=f"c{n}", content=json.dumps(arguments))
    detail = {"ok": True, **detail}
    result = Item(
        n=n + 1, kind="tool_result", name=name, call_id=f"c{n}", content=output, detail=detail
    )
    return made, result


def conversation() -> Iterator[Item]:
    yield Item(n=1, kind="user", content="The config is empty on the second read. Why?\nFix it.")
    yield Item(n=2, kind="reasoning", content="Look at the reader.", detail={"seconds": 4})
    yield from call(3, "read_file", {"path": "app/config.py"}, "line\n" * 79 + "line")
    yield from call(5, "grep", {"pattern": "def read", "path": "app"}, "a\nb\nc")
    yield from call(7, "edit_file", {"path": "app/config.py"}, "edited", diff=DIFF)
    tests = "\n".join(f"tests/test_{i}.py PASSED" for i in range(40))
    yield from call(9, "shell", {"command": "pytest"}, tests, exit_code=0, seconds=1.23)
    missing = "ls: cannot access 'nope'"
    yield from call(11, "shell", {"command": "ls nope"}, missing, ok=False, exit_code=2)
    no = "The user said no: not now"
    yield from call(13, "shell", {"command": "rm -rf build"}, no, ok=False, refused=True)
    yield Item(n=15, kind="assistant", content=REPLY)
    yield Item(n=16, kind="checkpoint", content="Task: fix the config\n\n- read once")
    yield Item(
        n=17,
        kind="context",
        name="shell",
        call_id="user-17",
        content="The user ran `git status`:\nclean",
        detail={"ok": True, "command": "git status", "exit_code": 0},
    )
    yield Item(n=18, kind="assistant", content="I was about to say", state="interrupted")


def messages(count: int) -> list[Item]:
    """`count` prompts of growing length."""
    return [
        Item(n=n, kind="user", content="\n".join(f"item {n} line {i}" for i in range(n % 7 + 1)))
        for n in range(1, count + 1)
    ]


def shown(transcript: Transcript) -> list[str]:
    """The rows on the screen as text."""
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]

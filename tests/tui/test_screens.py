"""What the screen looks like. The pictures are in `snapshots/test_screens/`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from fakes.live_session import EMBEDDED, LiveSession, live_session
from fakes.screen import make_app, until
from pinfold.agent.updates import Retrying, Streamed
from pinfold.ports.approver import Question
from pinfold.ports.errors import ProviderError
from pinfold.ports.provider import TextDelta
from pinfold.ports.tool import Review
from pinfold.rollout.events import TurnFinished
from pinfold.rollout.items import Item

Snap = Callable[..., bool]
Before = Callable[[Pilot[str]], Awaitable[None]]

REPLY = """`str.split(" ")` keeps the empty strings between two spaces.

Use `split()` without an argument: it parts at *any* white space.

```python
return len(text.split())
```
"""
DIFF = """--- a/wc/counter.py
+++ b/wc/counter.py
@@ -10,2 +10,3 @@
 def words(text: str) -> int:
-    return len(text.split(" "))
+    # any white space parts words
+    return len(text.split())
@@ -20,2 +21,2 @@
-def lines(text: str):
+def lines(text: str) -> int:
"""
EDIT = Question(
    "c1",
    "edit_file",
    '{"path": "wc/counter.py", "old_string": "a", "new_string": "b"}',
    Review("write", "edit wc/counter.py", diff=DIFF),
    "writes a file",
)
COMMAND = Question(
    "c2",
    "shell",
    '{"command": "pytest -q tests"}',
    Review("command", "$ pytest -q tests", command="pytest -q tests"),
    "runs a command",
    "pytest",
    editable="command",
)
DRIFTS = replace(
    EDIT,
    reason="edits wc/counter.py, which neither the task, the plan nor anything read since names",
    folders=("wc",),
)
OUTSIDE = replace(
    COMMAND,
    reason="failed in its sandbox: no network, writes only in its folder",
    prefix=None,
    outside=True,
    network=True,
)


@pytest.fixture
def session() -> LiveSession:
    return live_session()


async def ready(pilot: Pilot[str], session: LiveSession) -> None:
    await until(pilot, lambda: session.approver)


def streaming(session: LiveSession, then: Before | None = None) -> Before:
    async def before(pilot: Pilot[str]) -> None:
        await ready(pilot, session)
        session.append(Item(n=1, kind="user", content="Why does `words` count empty strings?"))
        session.enter("streaming")
        session.tell(Streamed(TextDelta(REPLY)))
        await pilot.pause(0.1)
        if then is not None:
            await then(pilot)

    return before


def asking(session: LiveSession, question: Question, *keys: str) -> Before:
    async def ask(pilot: Pilot[str]) -> None:
        session.ask(question)
        await until(pilot, lambda: list(pilot.app.screen.query("Choice")))
        await pilot.press(*keys)
        await pilot.pause()

    return streaming(session, ask)


def typing(session: LiveSession, *keys: str) -> Before:
    async def before(pilot: Pilot[str]) -> None:
        await ready(pilot, session)
        await pilot.press(*keys)
        await pilot.pause()

    return before


def test_first_paint(snap_compare: Snap) -> None:
    """You should see the prompt, ready to type in, while a model is still looked for."""
    assert snap_compare(make_app(None), terminal_size=(80, 24))


def test_empty(snap_compare: Snap, session: LiveSession) -> None:
    """You should see which model was chosen, why, and three things to try."""
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=typing(session))


def test_empty_small_model(snap_compare: Snap) -> None:
    """You should read that the model is small, has no tools, and how to get another."""
    session = live_session(model=EMBEDDED, choice_note="No key, and no local server answers.")
    assert snap_compare(make_app(session), terminal_size=(80, 24), run_before=typing(session))


def test_no_session(snap_compare: Snap) -> None:
    """You should read why there is no session, and what to do; what was sent is in the prompt."""

    async def before(pilot: Pilot[str]) -> None:
        await pilot.press(*"hello", "enter")
        broken.set()
        await pilot.pause(0.1)

    broken = asyncio.Event()
    app = make_app(None)

    async def start(_: object) -> LiveSession:
        await broken.wait()
        raise ProviderError("The key in OPENAI_API_KEY was refused.")

    app._start = start
    assert snap_compare(app, terminal_size=(80, 24), run_before=before)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 20)], ids="{0[0]}x{0[1]}".format)
def test_streaming(snap_compare: Snap, session: LiveSession, size: tuple[int, int]) -> None:
    """You should see a reply as it comes, the gauge, and that Esc interrupts."""
    assert snap_compare(make_app(session), terminal_size=size, run_before=streaming(session))


@pytest.mark.parametrize("theme", ["pinfold-light", "high-contrast", "ember", "tide", "nord"])
def test_theme(snap_compare: Snap, session: LiveSession, theme: str) -> None:
    """You should see everything legible, tinted lines in the diff, a warm frame on the card."""
    app = make_app(session, theme=theme)
    assert snap_compare(app, terminal_size=(80, 30), run_before=asking(session, EDIT))


def test_no_color(
    snap_compare: Snap, session: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """You should see no colour at all, and letters in the gauge."""
    monkeypatch.setenv("NO_COLOR", "1")
    session.model = EMBEDDED
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 30), run_before=asking(session, EDIT))


def test_approval_of_an_edit(snap_compare: Snap, session: LiveSession) -> None:
    """You should see the diff in a card, its choices, and the reply still above it."""
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=asking(session, EDIT))


def test_approval_of_a_command(snap_compare: Snap, session: LiveSession) -> None:
    """You should see the command, and which prefix "always" would allow."""
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=asking(session, COMMAND))


def test_approval_outside_the_sandbox(snap_compare: Snap, session: LiveSession) -> None:
    """You should see why it asks again, and that the network alone can be the answer."""
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=asking(session, OUTSIDE))


def test_approval_of_an_edit_that_drifts(snap_compare: Snap, session: LiveSession) -> None:
    """You should read all of why it asks, and that its folder can be allowed."""
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=asking(session, DRIFTS))


def test_changing_a_command(snap_compare: Snap, session: LiveSession) -> None:
    """You should see the command in an editor line, the cursor at its end."""
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=asking(session, COMMAND, "e"))


def test_refusing(snap_compare: Snap, session: LiveSession) -> None:
    """You should see a line for a word to the model."""
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=asking(session, COMMAND, "n"))


def test_error(snap_compare: Snap, session: LiveSession) -> None:
    """You should read why the turn failed and that a command is unknown; its text stays."""

    async def fail(pilot: Pilot[str]) -> None:
        session.enter("idle")
        session.append(TurnFinished(turn=1, state="failed", reason="openai: no credit is left."))
        await pilot.press(*"/modle x", "enter")
        await pilot.pause()

    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=streaming(session, fail))


def test_retry(snap_compare: Snap, session: LiveSession) -> None:
    """You should read what is waited for, how long, and that Esc stops it."""

    async def wait(_: Pilot[str]) -> None:
        session.enter("waiting")
        session.tell(Retrying("The server is rate limited.", 1, 4.0, 7, 4.0))

    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=streaming(session, wait))


def test_queue(snap_compare: Snap, session: LiveSession) -> None:
    """You should see two prompts that wait, dimmed, above the prompt."""

    async def queue(pilot: Pilot[str]) -> None:
        await pilot.press(*"then run the tests", "enter", *"and commit", "enter")
        await pilot.pause()

    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=streaming(session, queue))


def test_completion(snap_compare: Snap, session: LiveSession) -> None:
    """You should see commands above the prompt, the second one chosen."""
    app = make_app(session)
    before = typing(session, "/", "down")
    assert snap_compare(app, terminal_size=(80, 24), run_before=before)


def test_command_prompt(snap_compare: Snap, session: LiveSession) -> None:
    """You should see a prompt in another colour that says where it runs."""
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=typing(session, *"!pytest -q"))


def test_help(snap_compare: Snap, session: LiveSession) -> None:
    """You should see every command and key in a panel."""
    app = make_app(session)
    assert snap_compare(app, terminal_size=(120, 40), run_before=typing(session, "f1"))


def test_long_words_and_escapes(snap_compare: Snap, session: LiveSession) -> None:
    """You should see brackets and escape sequences as text; nothing of them acts."""
    hostile: Any = Question(
        "c3",
        "shell",
        '{"command": "echo"}',
        Review("command", "$ echo", command="echo '[red]x[/red]' \x1b[2J\x1b]0;owned\x07"),
        "[bold]runs[/bold] a command",
        "echo",
    )
    app = make_app(session)
    assert snap_compare(app, terminal_size=(80, 24), run_before=asking(session, hostile))

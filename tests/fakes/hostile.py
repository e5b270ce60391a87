"""Text that would drive a terminal or deceive its reader, put wherever text can come from."""

import json
import os
import unicodedata
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from fakes.foreign import START, codex_session
from fakes.foreign_claude import claude_session
from pinfold.rollout import codec
from pinfold.rollout.context import AgentsFile, Context, ToolSchema
from pinfold.rollout.events import (
    ApprovalDecided,
    ArtifactObserved,
    CompactionFinished,
    ContextSet,
    CoreChanged,
    Data,
    Event,
    GoalSet,
    ItemAdded,
    ItemsMarked,
    MemoryRefused,
    ModelChanged,
    PinsChanged,
    PromptQueued,
    RequestFinished,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    WindowReplaced,
)
from pinfold.rollout.items import Item, Origin
from pinfold.rollout.values import Compaction, CoreStatement, PlanBase, Sizes

PARTS = {
    "clipboard": "\x1b]52;c;aGk=\x07",
    "colour": "\x1b[31m",
    "clipboard in C1": "\x9d52;c;aGk=\x9c",
    "colour in C1": "\x9b31m",
    "next line": "\x85",
    "bell": "\x07",
    "backspace": "\x08",
    "return": "\r",
    "nul": "\x00",
    "delete": "\x7f",
    "separators": "\u2028\u2029",
    "overrides": "\u202e\u202c\u2066\u2069",
    "marks of direction": "\u200e\u200f\u061c",
    "zero width": "a\u200bb\u2060c\ufeffd\u200de\u00adf",
    "tags": "\U000e0041\U000e007f",
    "selectors": "\U000e0100",
    "surrogate": "\ud800",
    "markup": "[/nope] [red] [@click=app.bell]x[/] <b> &#x202e; &#27;",
}
TEXT = "<<" + "".join(PARTS.values()) + ">>"
WRITABLE = TEXT.replace("\ud800", "")
NAME = TEXT.replace("\ud800", os.fsdecode(b"\xff")).replace("\x00", "").replace("/", "")
"""What a folder or a file can be called."""

_FORBIDDEN = set("".join(PARTS.values())) - set(map(chr, range(0x20, 0x7F)))


def leaks(text: str) -> set[str]:
    """The names of those characters that may not leave."""
    return {
        unicodedata.name(one, repr(one))
        for one in text
        if one in _FORBIDDEN
        or (unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") and one not in "\n\t")
        or unicodedata.bidirectional(one)
        in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI", "PDF", "PDI")
    }


def hostile(value: Any, *, text: str = TEXT, keep: Sequence[str] = ()) -> Any:
    """A JSON value with `text` behind every text in it, but those of the keys in `keep`."""
    match value:
        case str():
            return _in_json(value, text) or value + text
        case dict():
            return {
                key: inner if key in keep else hostile(inner, text=text, keep=keep)
                for key, inner in value.items()
            }
        case list() | tuple():
            return [hostile(inner, text=text, keep=keep) for inner in value]
        case _:
            return value


def _in_json(value: str, text: str) -> str:
    """Arguments stay JSON."""
    if not value.startswith("{"):
        return ""
    return json.dumps(hostile(json.loads(value), text=text))


def hostile_data(data: Data) -> Data:
    """An event whose every text is hostile, where it is free to be so."""
    told = msgspec.to_builtins(data)

    def places(value: Any) -> list[tuple[Any, Any]]:
        keys = value if isinstance(value, dict) else range(len(value))
        inner = [(value, key) for key in list(keys)]
        more = [
            place
            for key in keys
            if isinstance(value[key], dict | list)
            for place in places(value[key])
        ]
        return inner + more

    for holder, key in places(told):
        before = holder[key]
        if isinstance(before, str):
            holder[key] = hostile(before, text=WRITABLE)
            try:
                msgspec.convert(told, type(data))
            except msgspec.ValidationError:
                holder[key] = before
    return msgspec.convert(told, type(data))


def session_data() -> list[Data]:
    """A session with a bit of everything."""
    compaction = Compaction("auto", "context_limit", "pre_turn", "local", "checkpoint")
    arguments = json.dumps({"command": "make test", "path": "app/x.py"})
    return [
        SessionStarted(schema=1, id="s", cwd="/w", version="1", forked_from="p:1"),
        ModelChanged(provider="p", model="m", context_window=8_192, window_source="server"),
        ContextSet(
            hash="h",
            context=Context(
                instructions="Be brief.",
                agents=(AgentsFile("/w/AGENTS.md", "Use tabs."),),
                environment="linux",
                tools=(ToolSchema("shell", "Runs.", {"type": "object", "properties": {}}),),
            ),
        ),
        TurnStarted(turn=1),
        ItemAdded(item=Item(n=1, kind="user", content="Fix the test. Always use tabs.", turn=1)),
        ItemAdded(item=Item(n=2, kind="reasoning", content="Hm.", turn=1, response=1)),
        ItemAdded(
            item=Item(
                n=3,
                kind="assistant",
                content="# I look\n\n`x` [a](http://a/b) | c",
                turn=1,
                response=1,
                origin=Origin("p", "m", "f"),
            )
        ),
        ItemAdded(
            item=Item(
                n=4,
                kind="tool_call",
                content=arguments,
                turn=1,
                response=1,
                call_id="c",
                name="shell",
            )
        ),
        ApprovalDecided(call_id="c", verdict="no", reason="Not now.", prefix="make"),
        ItemAdded(
            item=Item(
                n=5,
                kind="tool_result",
                content="1 failed\nE assert",
                turn=1,
                response=1,
                call_id="c",
                name="shell",
                detail={
                    "ok": False,
                    "exit_code": 1,
                    "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b",
                    "title": "$ make",
                },
            )
        ),
        ArtifactObserved(uri="app/x.py", kind="file", op="update", hash="0" * 40, item=5),
        ArtifactObserved(uri="cmd:make test", kind="command", op="run", item=5),
        MemoryRefused(payload="{}", reason="no such item"),
        RequestFinished(
            purpose="turn",
            provider="p",
            model="m",
            response=1,
            through_seq=4,
            estimate=10,
            status="RateLimited",
            error="slow down",
        ),
        TurnFinished(turn=1, state="failed", reason="The server said no."),
        GoalSet(text="Ship it."),
        CoreChanged(add=(CoreStatement("Use tabs.", 1),)),
        PinsChanged(add=(1, "app/**")),
        ItemAdded(item=Item(n=6, kind="context", content="A note.", turn=2)),
        ItemAdded(item=Item(n=7, kind="user", content="Go on.", turn=2)),
        ItemAdded(
            item=Item(n=8, kind="assistant", content="Gone on. " * 2_000, turn=2, response=2)
        ),
        ItemsMarked(items=((5, "masked"), (3, "placeholder"))),
        WindowReplaced(
            generation=1,
            base=PlanBase(0, 20),
            reason="threshold",
            strategy="checkpoint",
            window=((1, "full"), (9, "full"), (8, "full")),
            inserted=(Item(n=9, kind="summary", content="# So far\nIt failed."),),
            why={1: "pinned"},
            tokens=Sizes(900, 200),
            meta={"note": "made"},
        ),
        CompactionFinished(compaction=compaction, status="failed", error="It broke."),
        PromptQueued(id=1, text="And then?"),
    ]


def rollout() -> bytes:
    """The session as pinfold keeps it, every text of it hostile; the last line is no event."""
    lines = [
        codec.encode(Event(seq, START + timedelta(seconds=seq), hostile_data(data)))
        for seq, data in enumerate(session_data(), 1)
    ]
    strange = {"seq": 90, "ts": "2026-03-01T12:01:30Z", "type": TEXT, "data": {}}
    lines.append(json.dumps(strange).encode())
    lines.append(WRITABLE.replace("\n", "").encode() + b"\xff")
    return b"".join(line + b"\n" for line in lines)


def codex_lines() -> bytes:
    """A rollout of Codex whose every text is hostile."""
    made = codex_session()
    made.line("response_item", {"type": "nothing known"})
    made.event("error", message="bad")
    kept = ("type", "role", "timestamp")
    lines = [hostile(line, keep=kept) for line in made.lines]
    lines.append({"type": TEXT, "timestamp": lines[-1]["timestamp"], "payload": {}})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def claude_lines() -> bytes:
    """A session of Claude Code whose every text is hostile."""
    kept = (
        "type",
        "role",
        "timestamp",
        "uuid",
        "parentUuid",
        "leafUuid",
        "subtype",
        "logicalParentUuid",
    )
    lines = [hostile(line, keep=kept) for line in claude_session().lines]
    lines.append({"type": TEXT, "sessionId": "s-1"})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def messages() -> bytes:
    """A list of messages whose every text is hostile."""
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"a": "b"}'}}
    told = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": [{"type": "nothing known", "text": "x"}]},
    ]
    return json.dumps(hostile(told, keep=("role", "type"))).encode()


def toml(text: str) -> str:
    """A text as TOML writes it."""
    return '"' + "".join(f"\\U{ord(one):08x}" for one in text) + '"'


def session_folder(home: Path) -> Path:
    """A session in `home`, every text of it hostile."""
    folder = home / "sessions" / "2026" / "03" / "01" / "0197f3a2-7c10-7d2e-9b1e-0123456789ab"
    folder.mkdir(parents=True)
    (folder / "rollout.jsonl").write_bytes(rollout())
    return folder

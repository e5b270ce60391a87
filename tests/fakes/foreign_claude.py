"""Sessions as Claude Code writes them, made from nothing."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from fakes.foreign import START, Line
from pinfold.adopt.adoption import Adoption
from pinfold.adopt.claude import read_lines

CWD = "/home/ada/p"


class Claude:
    """A session that grows line by line, a second each; each line hangs on the one before."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.tip: str | None = None
        self._responses = 0

    def loose(self, kind: str, **fields: Any) -> None:
        """A line that is not linked to others."""
        self.lines.append({"type": kind, "sessionId": "s-1", **fields})

    def line(self, kind: str, *, after: str | None = "tip", **fields: Any) -> str:
        """A linked line; it hangs on `after`, and becomes the tip. Returns its uuid."""
        uuid = f"u{len(self.lines)}"
        at = START + timedelta(seconds=len(self.lines))
        told = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": self.tip if after == "tip" else after,
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "sessionId": "s-1",
            "cwd": CWD,
            "version": "2.1.45",
            "gitBranch": "main",
            "isSidechain": False,
        }
        self.lines.append(told | fields)
        self.tip = uuid
        return uuid

    def user(self, content: Any, **fields: Any) -> str:
        return self.line("user", message={"role": "user", "content": content}, **fields)

    def assistant(
        self, *blocks: Line, message_id: str = "", usage: Any = None, **fields: Any
    ) -> str:
        self._responses += 1
        message = {
            "id": message_id or f"msg_{self._responses}",
            "model": "claude-opus-4-6",
            "role": "assistant",
            "content": list(blocks),
            "usage": usage or tokens(10),
        }
        return self.line("assistant", message=message, **fields)

    def call(self, call_id: str, tool: str = "Bash", message_id: str = "", **given: Any) -> str:
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": given}
        return self.assistant(block, message_id=message_id)

    def result(self, call_id: str, content: Any = "done", **fields: Any) -> str:
        is_error = fields.pop("is_error", None)
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if is_error is not None:
            block["is_error"] = is_error
        return self.user([block], **fields)

    def boundary(self, before: str | None = None, **metadata: Any) -> str:
        return self.line(
            "system",
            after=None,
            subtype="compact_boundary",
            logicalParentUuid=before or self.tip,
            content="Conversation compacted",
            compactMetadata={"trigger": "auto", "preTokens": 155_000, **metadata},
        )

    def summary(self, text: str = "What was done.") -> str:
        return self.user(text, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def encoded(self) -> list[bytes]:
        return [json.dumps(line).encode() + b"\n" for line in self.lines]

    def read(self, file: Path = Path("s-1.jsonl")) -> Adoption:
        return read_lines(self.encoded(), file)


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def tokens(count: int) -> Line:
    return {
        "input_tokens": count,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 7,
    }


def claude_session() -> Claude:
    """All that a session can hold: parallel calls, branches, a side chain, compactions."""
    made = Claude()
    made.loose("file-history-snapshot", snapshot={})
    made.user("Fix the test.")
    made.assistant({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, message_id="msg_a")
    made.assistant(text("I look."), message_id="msg_a")
    first = made.call("call_1", "Read", "msg_a", file_path=f"{CWD}/app/x.py")
    second = made.call("call_2", "Task", "msg_a", prompt="Look around.")
    made.result("call_1", "a", after=first)
    made.user("Look around.", after=None, isSidechain=True)
    made.assistant(text("All is well."), isSidechain=True)
    made.result("call_2", [text("All is well.")], after=second)
    made.line("attachment", attachment={"type": "todo", "content": []})
    fork = made.assistant(text("Done."))
    made.user("Now the docs.")
    made.call("call_3", "Bash", command="ls")
    made.user("[Request interrupted by user]", after=fork)
    made.user([text("No, the changelog."), {"type": "image", "source": PICTURE}])
    made.call("call_4", "Edit", file_path=f"{CWD}/CHANGELOG.md", old_string="", new_string="x")
    kept = made.result("call_4")
    made.line("system", subtype="microcompact_boundary", microcompactMetadata=CLEARED)
    made.boundary(preservedMessages={"anchorUuid": "?", "uuids": [kept]}, postTokens=9_000)
    made.summary()
    made.call("call_5", command="make test")
    made.result("call_5", "failed", is_error=True)
    made.assistant(text("It fails."))
    made.loose("ai-title", aiTitle="Tests and changelog")
    made.loose("last-prompt", lastPrompt="No", leafUuid=made.tip)
    return made


PICTURE = {"type": "base64", "media_type": "image/png", "data": "aGk="}
CLEARED = {"trigger": "auto", "compactedToolIds": ["call_1"]}

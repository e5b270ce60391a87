"""What Codex's tool calls did, and what is in its messages, for the detail of their items."""

import re
from typing import Any

from pinfold.adopt.artifacts import file
from pinfold.adopt.changes import STATUS, DiffPart, answered, edited, refused
from pinfold.adopt.codex_tools import (
    PATCHES,
    SHELLS,
    arguments_of,
    command_of,
    outcome,
    patch_of,
    patched_files,
)
from pinfold.adopt.host_text import Spans, inside
from pinfold.adopt.lines import list_of, object_of, text_of

_AGENTS = frozenset(
    {"close_agent", "resume_agent", "send_input", "spawn_agent", "wait", "wait_agent"}
)
_REFUSED = frozenset(
    {
        "command rejected by user",
        "exec command rejected by user",
        "patch rejected by user",
        "rejected by user",
    }
)
"""Outputs of calls that the user refused."""
_HEAD = re.compile(
    r"(?:(?:Chunk ID|Wall time|Exit code|Total output lines|Original token count)\b.*\n"
    r"|Process (?:exited|running) .*\n)*Output:\n"
)
_RUNNING = re.compile(r"^Process running with session ID (\S+)$", re.MULTILINE)
_WITHIN = 500
"""Characters at the head of an output that may hold Codex's own lines."""
_KEPT = 2_000
"""Characters to keep at each end of an output that was wrapped in JSON."""
_ASKED = ("# Context from my IDE setup:", "# Files mentioned by the user:")
"""How an editor's messages begin, which end with the prompt."""
_PROMPT = "## My request for Codex:\n"
_PICTURE = re.compile(r"<image(?: name=\[[^\]\n]*\])?>|</image>")


class CodexActs:
    """Tells what each call did. Remembers running commands, by their sessions."""

    def __init__(self) -> None:
        self._running: dict[str, str] = {}

    def detail(self, name: str, arguments: str, output: str, cwd: str) -> dict[str, Any]:
        given = arguments_of(arguments)
        detail = {**outcome(output), **_wrapped(output)}
        if output.strip() in _REFUSED:
            done = self._act(name, given, output, cwd, ok=False)
            return {**done, **refused(output)}
        return detail | self._act(name, given, output, cwd, ok=detail["ok"])

    def _act(
        self, name: str, given: dict[str, Any], output: str, cwd: str, *, ok: bool
    ) -> dict[str, Any]:
        patch = patch_of(given)
        if name == "apply_patch" or (name in SHELLS and "*** Begin Patch" in patch):
            return _patched(given, cwd, ok=ok)
        if name in SHELLS:
            command = command_of(given)
            if match := _RUNNING.search(output, 0, _WITHIN):
                self._running[match[1]] = command
            return {"act": "command", "command": command}
        if name == "write_stdin":
            # The call that sees a command end has its exit code.
            session = str(given.get("session_id", ""))
            ended = "exit_code" in outcome(output) and self._running.pop(session, "")
            return {"act": "command", "command": ended} if ended else {"act": "read"}
        if name == "update_plan":
            return {"act": "plan", "plan": _plan(given)}
        if name == "request_user_input":
            return _question(given, output)
        if name in _AGENTS:
            return {"act": "agent", **_agent(given, output)}
        return {"act": "read"}


def message(text: str, *, typed: bool) -> dict[str, Any]:
    """The detail of a message that is not the model's; `typed`: whether the user sent it."""
    if typed:
        host = _host_spans(text)
        return {"act": "said", **({"host": host} if host else {})}
    if command := inside(text, "user_shell_command") and inside(text, "command"):
        return {"act": "said", "words": f"!{command}", "command": command}
    if report := _completed(arguments_of(inside(text, "subagent_notification"))):
        return {"act": "agent", "text": report}
    return {"act": "host"}


def _host_spans(text: str) -> Spans:
    """The parts of a message beside the prompt: an editor's state, names of pictures."""
    head = text.find(_PROMPT) + len(_PROMPT) if text.startswith(_ASKED) and _PROMPT in text else 0
    pictures = [[match.start(), match.end()] for match in _PICTURE.finditer(text, head)]
    return [[0, head], *pictures] if head else pictures


def _wrapped(output: str) -> dict[str, Any]:
    """Where the tool's own output is in the model's text."""
    if match := _HEAD.match(output):
        return {"host": [[0, match.end()]]}
    if output.startswith('{"output":'):
        text = text_of(arguments_of(output), "output")
        cut = text if len(text) <= 2 * _KEPT else f"{text[:_KEPT]}\n…\n{text[-_KEPT:]}"
        return {"text": cut} if cut else {"host": [[0, len(output)]]}
    return {}


def _patched(given: dict[str, Any], cwd: str, *, ok: bool) -> dict[str, Any]:
    patched = patched_files(patch_of(given))
    parts = [DiffPart(file(part.path, "update", cwd).uri, part.lines) for part in patched]
    paths = list(dict.fromkeys(part.path for part in parts))
    bodies = [key for key in PATCHES if key in given]
    return edited(paths, [part for part in parts if ok and part.lines], bodies=bodies)


def _plan(given: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {
            "text": text_of(step, "step"),
            "status": STATUS.get(text_of(step, "status"), "pending"),
        }
        for step in list_of(given, "plan")
        if isinstance(step, dict)
    ]


def _question(given: dict[str, Any], output: str) -> dict[str, Any]:
    answers = object_of(arguments_of(output), "answers")
    asked, words = [], []
    for question in list_of(given, "questions"):
        if isinstance(question, dict):
            replies = list_of(object_of(answers, text_of(question, "id")), "answers")
            asked.append(" ".join(text_of(question, "question").split()))
            words.append(" ".join(" ".join(map(str, replies)).split()))
    return answered(asked, words)


def _agent(given: dict[str, Any], output: str) -> dict[str, Any]:
    title = text_of(given, "message") or text_of(given, "prompt")
    detail = {"title": title} if title else {}
    reported = arguments_of(output)
    statuses = object_of(reported, "status").values()
    reports = [report for status in statuses if (report := _completed({"status": status}))]
    if reports:
        return {**detail, "text": "\n".join(reports)}
    return {**detail, "host": [[0, len(output)]]} if reported else detail  # ids alone


def _completed(report: dict[str, Any]) -> str:
    return text_of(object_of(report, "status"), "completed")

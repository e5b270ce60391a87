"""What calls of Claude Code's own tools did, for the detail of their results."""

import re
from collections.abc import Mapping
from typing import Any

from pinfold.adopt.artifacts import file
from pinfold.adopt.changes import Part, edited, signed
from pinfold.adopt.host_text import Spans, between, inside, shifted
from pinfold.adopt.lines import list_of, number_of, object_of, text_of

Given = Mapping[str, Any]

_EDITS = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "Write": "file_path",
    "str_replace_based_edit_tool": "path",
}
"""Tools that change a file, and which argument names it."""
_BEFORE = ("old_string", "old_str")
_AFTER = ("new_string", "new_str", "content", "file_text", "new_source", "insert_text")
"""Arguments of edits: what was there, and what takes its place."""
_AGENTS = frozenset({"Agent", "Task"})
_REFUSALS = (
    "The agent proposed a plan that was rejected by the user",
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
"""How the results of calls begin that the user refused."""
_SAID = "the user said:\n"
"""What is before the user's words in a refusal."""
_AFTER_WORDS = "\n\nNote: The user's next message"
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,9})(?:\n|$)")
_CREATED = re.compile(r"Task #(\S+) created")
_TAGS = re.compile(r"<(system-reminder)>")
_ERROR, _ERROR_END = "<tool_use_error>", "</tool_use_error>"
_LAUNCHED = "Async agent launched successfully"
_AGENT_FOOT = "\nagentId: "
_REPORT = "--- RESULT ---\n"
"""What is between what a sub-agent did and what it reports."""
_RESET = re.compile(r"(?:^|\n)Shell cwd was reset to .*\Z")
_APPROVED = "## Approved Plan"
_STATUS = {"pending": "pending", "in_progress": "in_progress", "completed": "done"}


def kept(extra: Any) -> dict[str, Any]:
    """What is worth keeping of a `toolUseResult`, which may repeat whole files."""
    if not isinstance(extra, dict):
        return {}
    names = ("agentId", "annotations", "answers", "structuredPatch", "task")
    return {name: extra[name] for name in names if name in extra}


class Acts:
    """Tells what each call did. It knows the tasks, which change one by one, and sub-agents."""

    def __init__(self) -> None:
        self._tasks: dict[str, dict[str, str]] = {}
        self._agents: dict[str, str] = {}
        """What each sub-agent was to do, by its id."""

    def detail(
        self, tool: str, given: Given, text: str, extra: Given, cwd: str, *, ok: bool
    ) -> dict[str, Any]:
        """`text` is the result, `extra` what `kept` left of its `toolUseResult`."""
        detail: dict[str, Any] = {"ok": ok}
        if host := _host(tool, text, ok=ok):
            detail["host"] = host
        detail |= self._done(tool, dict(given), text, dict(extra), cwd, ok=ok)
        if not ok and text.startswith(_REFUSALS):
            refused = {"act": "refused", "refused": True, "words": _words(text)}
            detail |= {**refused, "host": [[0, len(text)]]}
        return detail

    def _done(
        self,
        tool: str,
        given: dict[str, Any],
        text: str,
        extra: dict[str, Any],
        cwd: str,
        *,
        ok: bool,
    ) -> dict[str, Any]:
        if tool in _EDITS and given.get("command") != "view":
            return _edit(given, text_of(given, _EDITS[tool]), extra, cwd, ok=ok)
        if tool == "Bash":
            detail = {"act": "command", "command": text_of(given, "command")}
            if not ok and (match := _EXIT.match(text)):
                return {**detail, "exit_code": int(match[1])}
            return detail
        if tool in _AGENTS:
            title = text_of(given, "description") or text_of(given, "prompt")
            self._agents[text_of(extra, "agentId")] = title
            return {"act": "agent", "title": title}
        if tool == "TaskOutput" and _reported(text):
            title = self._agents.get(text_of(given, "task_id"), "")
            return {
                "act": "agent",
                "title": title,
                "text": inside(text, "output").rpartition(_REPORT)[2],
            }
        if tool == "AskUserQuestion":
            return _answered(given, text, extra)
        if tool == "ExitPlanMode":
            return _planned(text_of(given, "plan") or text.partition(_APPROVED)[2].lstrip(":\n "))
        if tool in {"TodoWrite", "TaskCreate", "TaskUpdate"}:
            if ok:
                self._step(tool, given, text, extra)
            return {"act": "plan", "plan": list(self._tasks.values())}
        return {"act": "read"}

    def _step(self, tool: str, given: dict[str, Any], text: str, extra: dict[str, Any]) -> None:
        if tool == "TodoWrite":
            todos = [todo for todo in list_of(given, "todos") if isinstance(todo, dict)]
            self._tasks = {
                f"todo {n}": _task(text_of(todo, "content"), text_of(todo, "status"))
                for n, todo in enumerate(todos)
            }
        elif tool == "TaskCreate":
            match = _CREATED.match(text)
            name = text_of(object_of(extra, "task"), "id") or (match[1] if match else text)
            self._tasks[name] = _task(text_of(given, "subject"), "pending")
        else:
            name, status = text_of(given, "taskId"), text_of(given, "status")
            if status == "deleted":
                self._tasks.pop(name, None)
            elif name in self._tasks:
                old = self._tasks[name]
                new = _task(text_of(given, "subject") or old["text"], status)
                self._tasks[name] = new if status in _STATUS else {**new, "status": old["status"]}


def _task(text: str, status: str) -> dict[str, str]:
    return {"text": text, "status": _STATUS.get(status, "pending")}


def _edit(
    given: dict[str, Any], path: str, extra: dict[str, Any], cwd: str, *, ok: bool
) -> dict[str, Any]:
    name = file(path, "update", cwd).uri if path else ""
    paths = [name] if name else []
    bodies = [key for key in (*_BEFORE, *_AFTER, "edits") if key in given]
    if not ok:
        return edited(paths, bodies=bodies)
    hunks = [entry for entry in list_of(extra, "structuredPatch") if isinstance(entry, dict)]
    parts = [_hunk(name, hunk) for hunk in hunks] or _parts(name, given)
    return edited(paths, [part for part in parts if part.lines], bodies=bodies)


def _hunk(path: str, hunk: dict[str, Any]) -> Part:
    # "\\ No newline at end of file" is among the lines, and is none.
    lines = [row for row in list_of(hunk, "lines") if isinstance(row, str) and row[:1] != "\\"]
    return Part(path, lines, number_of(hunk, "oldStart"), number_of(hunk, "newStart"))


def _parts(path: str, given: dict[str, Any]) -> list[Part]:
    """What the arguments of an edit say of it, where the session does not tell what changed."""
    edits = [edit for edit in list_of(given, "edits") if isinstance(edit, dict)]
    found = []
    for edit in edits or [given]:
        before = next((text for key in _BEFORE if (text := text_of(edit, key))), "")
        text = next((text for key in _AFTER if (text := text_of(edit, key))), "")
        found.append(Part(path, signed(before, text)))
    return found


def _answered(given: dict[str, Any], text: str, extra: dict[str, Any]) -> dict[str, Any]:
    """Questions and the user's answers, one line each."""
    answers, notes = object_of(extra, "answers"), object_of(extra, "annotations")
    asked, words = [], []
    for entry in list_of(given, "questions"):
        question = text_of(entry, "question") if isinstance(entry, dict) else ""
        if question:
            # "question"="answer": so the model is told.
            told = text.partition(f'"{question}"="')[2].partition('"')[0]
            answer = str(answers.get(question, told))
            asked.append(" ".join(question.split()))
            words.append(
                " ".join(f"{answer} {text_of(object_of(notes, question), 'notes')}".split())
            )
    return {
        "act": "question",
        "title": "\n".join(asked),
        "words": "\n".join(words) if any(words) else "",
    }


def _planned(plan: str) -> dict[str, Any]:
    first = next((line.strip("# ") for line in plan.splitlines() if line.strip("# ")), "")
    return {"act": "plan", "title": f"plan: {first}" if first else "plan", "text": plan}


def _reported(text: str) -> bool:
    """Whether a `TaskOutput` brings the report of a sub-agent that is done."""
    return inside(text, "task_type") == "local_agent" and inside(text, "status") == "completed"


def _words(text: str) -> str:
    """What the user said with a refusal."""
    return text.partition(_SAID)[2].partition(_AFTER_WORDS)[0].strip()


def _host(tool: str, text: str, *, ok: bool) -> Spans:
    """What Claude Code wrote into a result."""
    if tool in _AGENTS:
        if text.startswith(_LAUNCHED):
            return [[0, len(text)]]
        foot = text.rfind(_AGENT_FOOT)
        return between(text, _TAGS) if foot < 0 else [[foot, len(text)]]
    if text.startswith(_ERROR) and text.endswith(_ERROR_END):
        return [[0, len(_ERROR)], [len(text) - len(_ERROR_END), len(text)]]
    if tool != "Bash":
        return between(text, _TAGS)
    exited, reset = None if ok else _EXIT.match(text), _RESET.search(text)
    start = exited.end() if exited else 0
    end = max(start, reset.start()) if reset else len(text)
    inner = shifted(between(text[start:end], _TAGS), start)
    return [span for span in ([0, start], *inner, [end, len(text)]) if span[0] < span[1]]

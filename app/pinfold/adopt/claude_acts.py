"""What calls of Claude Code's own tools did and touched."""

import re
from typing import Any

from pinfold.adopt.artifacts import Op, Touched, command, file
from pinfold.adopt.changes import STATUS, DiffPart, answered, edited, refused, signed
from pinfold.adopt.host_text import Spans, between, inside, shifted
from pinfold.adopt.lines import list_of, number_of, object_of, text_of

Given = dict[str, Any]

_FILE_TOOLS: dict[str, tuple[str, Op]] = {
    "Read": ("file_path", "read"),
    "NotebookRead": ("notebook_path", "read"),
    "Edit": ("file_path", "update"),
    "MultiEdit": ("file_path", "update"),
    "NotebookEdit": ("notebook_path", "update"),
    "Write": ("file_path", "create"),
    "str_replace_based_edit_tool": ("path", "update"),
}
"""Which argument names the file. Grep and Glob are not here: what they name may be a folder."""
_OPS: dict[str, Op] = {"view": "read", "create": "create"}
"""What these commands of `str_replace_based_edit_tool` do; its others update."""
_BEFORE = ("old_string", "old_str")
_AFTER = ("new_string", "new_str", "content", "file_text", "new_source", "insert_text")
"""Arguments of edits: the old text, and the new."""
_AGENTS = frozenset({"Agent", "Task"})
_REFUSALS = (
    "The agent proposed a plan that was rejected by the user",
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
"""How results of refused calls begin."""
_SAID = "the user said:\n"
"""What comes before the user's words in a refusal."""
_AFTER_WORDS = "\n\nNote: The user's next message"
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,9})(?:\n|$)")
_CREATED = re.compile(r"Task #(\S+) created")
_TAGS = re.compile(r"<(system-reminder)>")
_ERROR, _ERROR_END = "<tool_use_error>", "</tool_use_error>"
_LAUNCHED = "Async agent launched successfully"
_AGENT_FOOT = "\nagentId: "
_REPORT = "--- RESULT ---\n"
"""What comes before the report in a sub-agent's output."""
_RESET = re.compile(r"(?:^|\n)Shell cwd was reset to .*\Z")
_APPROVED = "## Approved Plan"


def kept(extra: Any) -> dict[str, Any]:
    """The part of a `toolUseResult` to keep; the rest may repeat whole files."""
    if not isinstance(extra, dict):
        return {}
    names = ("agentId", "annotations", "answers", "structuredPatch", "task")
    return {name: extra[name] for name in names if name in extra}


class ClaudeActs:
    """Tells what each call did. Remembers tasks, which change one by one, and sub-agents."""

    def __init__(self) -> None:
        self._tasks: dict[str, dict[str, str]] = {}
        self._agents: dict[str, str] = {}
        """The task of each sub-agent, by its id."""

    def detail(
        self, tool: str, given: Given, text: str, extra: Given, cwd: str, *, ok: bool
    ) -> dict[str, Any]:
        """`text` is the result, `extra` what `kept` left of its `toolUseResult`."""
        detail: dict[str, Any] = {"ok": ok}
        if host := _host(tool, text, ok=ok):
            detail["host"] = host
        detail |= self._act(tool, given, text, extra, cwd, ok=ok)
        if not ok and text.startswith(_REFUSALS):
            detail |= refused(text, text.partition(_SAID)[2].partition(_AFTER_WORDS)[0].strip())
        return detail

    def _act(
        self,
        tool: str,
        given: Given,
        text: str,
        extra: Given,
        cwd: str,
        *,
        ok: bool,
    ) -> dict[str, Any]:
        path, op = _file(tool, given)
        if tool in _FILE_TOOLS and op != "read":
            return _edit(given, path, extra, cwd, ok=ok)
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
            return _question(given, text, extra)
        if tool == "ExitPlanMode":
            return _planned(text_of(given, "plan") or text.partition(_APPROVED)[2].lstrip(":\n "))
        if tool in {"TodoWrite", "TaskCreate", "TaskUpdate"}:
            if ok:
                self._step(tool, given, text, extra)
            return {"act": "plan", "plan": list(self._tasks.values())}
        return {"act": "read"}

    def _step(self, tool: str, given: Given, text: str, extra: Given) -> None:
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
                self._tasks[name] = new if status in STATUS else {**new, "status": old["status"]}


def touched(tool: str, given: Given, cwd: str, *, ok: bool) -> Touched | None:
    """The artifact that a call touched, if that is certain; `ok`: whether the call succeeded."""
    if tool == "Bash":
        text = text_of(given, "command")
        return command(text) if text else None
    path, op = _file(tool, given)
    return file(path, op, cwd) if ok and path else None


def _file(tool: str, given: Given) -> tuple[str, Op]:
    """The path that a call names, which may be empty, and what it does to that file."""
    argument, op = _FILE_TOOLS.get(tool, ("", "read"))
    path = text_of(given, argument) if argument else ""
    return path, _OPS.get(text_of(given, "command"), op)


def _task(text: str, status: str) -> dict[str, str]:
    return {"text": text, "status": STATUS.get(status, "pending")}


def _edit(given: Given, path: str, extra: Given, cwd: str, *, ok: bool) -> dict[str, Any]:
    name = file(path, "update", cwd).uri if path else ""
    paths = [name] if name else []
    bodies = [key for key in (*_BEFORE, *_AFTER, "edits") if key in given]
    if not ok:
        return edited(paths, bodies=bodies)
    hunks = [entry for entry in list_of(extra, "structuredPatch") if isinstance(entry, dict)]
    parts = [_hunk(name, hunk) for hunk in hunks] or _parts(name, given)
    return edited(paths, [part for part in parts if part.lines], bodies=bodies)


def _hunk(path: str, hunk: dict[str, Any]) -> DiffPart:
    # "\\ No newline at end of file" is among the lines, and is none.
    lines = [row for row in list_of(hunk, "lines") if isinstance(row, str) and row[:1] != "\\"]
    return DiffPart(path, lines, number_of(hunk, "oldStart"), number_of(hunk, "newStart"))


def _parts(path: str, given: Given) -> list[DiffPart]:
    """What the arguments say of an edit, if the session does not record what changed."""
    edits = [edit for edit in list_of(given, "edits") if isinstance(edit, dict)]
    found = []
    for edit in edits or [given]:
        before = next((text for key in _BEFORE if (text := text_of(edit, key))), "")
        text = next((text for key in _AFTER if (text := text_of(edit, key))), "")
        found.append(DiffPart(path, signed(before, text)))
    return found


def _question(given: Given, text: str, extra: Given) -> dict[str, Any]:
    answers, notes = object_of(extra, "answers"), object_of(extra, "annotations")
    asked, words = [], []
    for entry in list_of(given, "questions"):
        question = text_of(entry, "question") if isinstance(entry, dict) else ""
        if question:
            # The model reads "question"="answer".
            quoted = text.partition(f'"{question}"="')[2].partition('"')[0]
            answer = str(answers.get(question, quoted))
            asked.append(" ".join(question.split()))
            words.append(
                " ".join(f"{answer} {text_of(object_of(notes, question), 'notes')}".split())
            )
    return answered(asked, words)


def _planned(plan: str) -> dict[str, Any]:
    first = next((line.strip("# ") for line in plan.splitlines() if line.strip("# ")), "")
    return {"act": "plan", "title": f"plan: {first}" if first else "plan", "text": plan}


def _reported(text: str) -> bool:
    """Whether a `TaskOutput` has the report of a finished sub-agent."""
    return inside(text, "task_type") == "local_agent" and inside(text, "status") == "completed"


def _host(tool: str, text: str, *, ok: bool) -> Spans:
    """The parts of a result that Claude Code wrote."""
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

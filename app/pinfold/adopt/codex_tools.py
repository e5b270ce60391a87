"""What Codex's tool calls did: artifacts that they touched, and how they came out."""

import posixpath
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from pinfold.adopt.artifacts import Op, Touched
from pinfold.adopt.artifacts import command as ran
from pinfold.adopt.artifacts import file as seen
from pinfold.adopt.lines import list_of, object_of, parse, text_of

SHELLS = frozenset({"exec_command", "shell", "shell_command", "container.exec", "local_shell"})

PATCHES = ("input", "patch", "cmd", "command")
"""Arguments that may hold a patch."""
_READERS = frozenset({"cat", "head", "tail", "nl"})
_SHELL_SIGNS = frozenset("|;<>$`*?(){}[]~&\n\\")
"""With one of these, a word may not be the path that it looks like."""
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_PATCH_OPS: dict[str, Op] = {"Add": "create", "Update": "update", "Delete": "delete"}
_LONGEST_SPLIT = 10_000
"""Longer commands are not split into words."""
_SED_PRINT = re.compile(r"[\d,$]+p")
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE)
_EXIT_WITHIN = 500
"""Characters at the head of an output that may hold the exit code."""


class PatchedFile(NamedTuple):
    """A file in a patch."""

    path: str
    op: Op
    moved_to: str
    """Its new path; empty if it does not move."""
    lines: list[str]
    """Each begins with ` `, `+` or `-`."""


def patched_files(patch: str) -> Iterator[PatchedFile]:
    heads = list(_PATCHED.finditer(patch))
    ends = [*(head.start() for head in heads[1:]), len(patch)]
    for head, end in zip(heads, ends, strict=True):
        body = patch[head.end() : end]
        moved = _MOVED.search(body)
        lines = [line for line in body.splitlines() if line[:1] in {" ", "+", "-"}]
        moved_to = moved[1].rstrip() if moved else ""
        yield PatchedFile(head[2].rstrip(), _PATCH_OPS[head[1]], moved_to, lines)


def touched(name: str, arguments: str, cwd: str) -> list[Touched]:
    """What a call touches if it succeeds; a command comes before files."""
    if name == "apply_patch":
        return list(_patched(patch_of(arguments_of(arguments)), cwd, cwd))
    if name not in SHELLS:
        return []
    given = arguments_of(arguments)
    command = command_of(given)
    if not command:
        return []
    base = text_of(given, "workdir") or text_of(given, "working_directory") or cwd
    found = [ran(command)]
    if "apply_patch" in command or "applypatch" in command:
        found += _patched(command, base, cwd)
    found += _read(command, base, cwd)
    return found


def outcome(output: str) -> dict[str, Any]:
    """`ok` and, if the head of the output says it, `exit_code`."""
    match = _EXIT.search(output, 0, _EXIT_WITHIN)
    code = int(match.group(1)) if match else None
    if code is None and output.startswith("{"):
        recorded = object_of(arguments_of(output), "metadata").get("exit_code")
        code = recorded if isinstance(recorded, int) else None
    if code is None:
        return {"ok": not output.startswith("apply_patch verification failed")}
    return {"ok": code == 0, "exit_code": code}


def arguments_of(text: str) -> dict[str, Any]:
    """The JSON object in a text; empty if there is none."""
    try:
        value = parse(text.encode("utf-8", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def patch_of(given: dict[str, Any]) -> str:
    """The patch among a call's arguments, or the command that may hold it."""
    return text_of(given, "input") or text_of(given, "patch") or command_of(given)


def command_of(given: dict[str, Any]) -> str:
    """The command among a call's arguments, as one would type it."""
    return _script(_argv(given))


def _argv(given: dict[str, Any]) -> list[str] | str:
    for key in ("cmd", "command"):
        if text := text_of(given, key):
            return text
        if words := list_of(given, key):
            return [word for word in words if isinstance(word, str)]
    return ""


def _script(argv: list[str] | str) -> str:
    """The command without the shell that Codex wraps around it."""
    match argv:
        case str():
            return argv
        case [shell, "-lc" | "-c", script] if posixpath.basename(shell) in {"bash", "sh", "zsh"}:
            return script
        case _:
            return shlex.join(argv)


def _patched(patch: str, base: str, cwd: str) -> Iterator[Touched]:
    for patched in patched_files(patch):
        yield seen(patched.path, patched.op, cwd, base)
        if patched.moved_to:
            yield seen(patched.path, "delete", cwd, base)
            yield seen(patched.moved_to, "create", cwd, base)


def _read(command: str, base: str, cwd: str) -> Iterator[Touched]:
    """Files that a plain `cat`, `head`, `tail`, `nl` or `sed -n` shows, if that is certain."""
    if len(command) > _LONGEST_SPLIT:
        return
    for part in command.split("&&"):
        if not _SHELL_SIGNS.isdisjoint(part):
            if "cd " in part:
                return  # the folder is not known
            continue
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        match words:
            case ["cd", folder] if folder[:1] not in {"-", "~"}:
                base = posixpath.join(base, folder)
            case ["cd", *_]:
                return
            case ["sed", "-n", script, path] if _SED_PRINT.fullmatch(script):
                yield seen(path, "read", cwd, base)
            case [reader, *rest] if reader in _READERS and "-c" not in rest:
                for word in rest:
                    if not (word.startswith("-") or word.isdigit()):
                        yield seen(word, "read", cwd, base)

"""What the output of a call tells: the lines that matter of a failure, and how tests came out."""

import re

from msgspec import Struct

from pinfold.checkpoint.text import short

MAX_LINES = 2
MAX_LINE_CHARS = 120
_SCANNED_CHARS = 32_768
"""At the head and at the tail of an output."""

_PREAMBLE = re.compile(
    r"^(?:Chunk ID:|Wall time:|Process exited with|Original token count:|Output:|Exit code\b)"
)
_SOURCE = re.compile(
    r"^(?:[+-](?![+-]*\d)|//|/\*|\* |[>│|] |return\b"
    r"|(?:function|const|let|var|def|func|import|export)\s"
    r"|\d+(?:\s+\d+)?(?:\t|\s*[│|→])|\(pass\)|✓|✔|--- PASS|=== RUN"
    r"|\"[^\"]*\",?$|'[^']*',?$)|[{;]$"
)
"""Lines that show a text, a diff or what went well, and report nothing."""
_TAG = re.compile(r"</?(?:tool_use_error|error|system-reminder|stdout|stderr)>")
_EXCEPTION = re.compile(r"\b(?:[a-z]\w*\.)*([A-Z]\w*(?:Error|Exception|Panic|Fault))\b")
_CODE = re.compile(r"\b(E[A-Z]{4,15}|TS\d{4,5}|E\d{4}|SC\d{4}|HTTP [45]\d\d)\b")
_PHRASE = re.compile(
    r"\b(no such file or directory|command not found|file does not exist|no matches found|"
    r"not a git repository|permission denied|access denied|connection refused|already exists|"
    r"does not exist|cannot find|could not find|not found|unknown (?:flag|command|option|argument)|"
    r"unexpected|undefined|undeclared|unresolved|ambiguous|conflict|rejected|timed out|timeout|"
    r"deadlock|out of memory|segmentation fault|panic|syntax error|assertion failed|not allowed|"
    r"invalid|unable to|cannot|can't|missing|fatal|failed|failure|failing|error)\b",
    re.IGNORECASE,
)
_FAILED_TEST = re.compile(
    r"^(?:FAILED (?P<pytest>\S+::\S+)|\s*--- FAIL: (?P<go>\S+)|test (?P<cargo>\S+) \.\.\. FAILED|"
    r"\(fail\) (?P<bun>.+?)(?: \[[\d.]+ ?m?s\])?$|"
    r"\s*[✗✕×] (?P<js>\S.{3,}?)(?: \(?[\d.]+ ?m?s\)?)?$)",
    re.MULTILINE,
)
_TESTED = re.compile(
    r"^=+ (?P<pytest>(?:\d+ \w+(?:, )?)+) in [\d.]+|^\s*(?P<fails>\d+) fail$|"
    r"^\s*(?P<bun>\d+) pass$|^Tests: +(?P<jest>.+)$|^test result: \w+\. (?P<cargo>.+?;.+?);|"
    r"^(?P<go>ok|FAIL)\s+\S+/\S+\s+(?:[\d.]+s|\(cached\))",
    re.MULTILINE,
)


_PRINTERS = frozenset(
    [
        *("bat", "cat", "cut", "diff", "egrep", "fd", "fgrep", "find", "grep", "head", "jq"),
        *("less", "ls", "nl", "rg", "sed", "sort", "tail", "tree", "uniq", "wc"),
    ]
)
"""Programs whose output is what they read."""
_GIT_PRINTERS = frozenset({"blame", "diff", "grep", "log", "show"})
_ASIDE = frozenset({"bash", "cd", "echo", "sh", "true", "zsh"})
"""Programs that stand beside others, and print nothing that was read."""
_COMPLAINT = re.compile(
    rf"^(?:\S*/)?(?:{'|'.join(sorted(_PRINTERS))}|bash|zsh|sh|fatal|error|\(eval\)):",
)
"""How a program begins a line of its own."""
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_JOINT = re.compile(r"[|;&\n]+")
_PROGRAM = re.compile(r"[a-z][\w.-]*$")


class Failure(Struct, frozen=True):
    """What went wrong, of one class."""

    label: str
    """The exception, code or phrase that names it."""
    line: str
    """The line that says it."""


class TestRun(Struct, frozen=True):
    """A run of tests."""

    failed: tuple[str, ...]
    said: str
    """Its result, in its own words."""


def only_prints(command: str) -> bool:
    """Whether a command line runs nothing but programs that show what they read."""
    printing = False
    for part in _JOINT.split(_QUOTED.sub("x", command)):
        words = part.split()
        if not words or words[0] in _ASIDE or not _PROGRAM.match(words[0]):
            continue
        if words[0] == "git" and len(words) > 1:
            printing = words[1] in _GIT_PRINTERS
        else:
            printing = words[0] in _PRINTERS
        if not printing:
            return False
    return printing


def failures(output: str, command: str = "") -> list[Failure]:
    """The lines that matter of a failed call's output, one of each class; the first ones.

    Of a `command` that only prints, those in which it complains.
    """
    prints = only_prints(command)
    found: dict[str, str] = {}
    first = ""
    for raw in _ends(output).splitlines():
        line = _TAG.sub("", raw).strip()
        if not line or _PREAMBLE.match(line) or _SOURCE.search(line):
            continue
        if prints and not _COMPLAINT.match(line):
            continue
        first = first or line
        label = _label(line)
        if label and label not in found:
            found[label] = line
    precise = [label for label in found if label not in {"error", "failed", "fatal"}]
    if not found and first:
        found["failed"] = first
    chosen = (precise or list(found))[:MAX_LINES]
    return [Failure(label, short(found[label], MAX_LINE_CHARS)) for label in chosen]


def outcome_of_tests(output: str) -> TestRun | None:
    """How tests came out; none where the output is no run of tests."""
    text = _ends(output)
    failed = [next(filter(None, match.groups())) for match in _FAILED_TEST.finditer(text)]
    said: list[str] = []
    go = {"ok": 0, "FAIL": 0}
    for match in _TESTED.finditer(text):
        match match.lastgroup:
            case "go":
                go[match["go"]] += 1
            case "fails":
                said.append(f"{match['fails']} failed")
            case "bun":
                said.append(f"{match['bun']} passed")
            case kind if kind is not None:
                said.append(match[kind].strip())
    if any(go.values()):
        said.append(f"{go['ok']} packages ok, {go['FAIL']} failed")
    if not said:
        return None
    return TestRun(tuple(dict.fromkeys(failed)), short(", ".join(said), MAX_LINE_CHARS))


def _label(line: str) -> str:
    for pattern in (_EXCEPTION, _CODE):
        if match := pattern.search(line):
            return match[1]
    match = _PHRASE.search(line)
    return match[1].casefold() if match else ""


def _ends(output: str) -> str:
    if len(output) <= 2 * _SCANNED_CHARS:
        return output
    return f"{output[:_SCANNED_CHARS]}\n{output[-_SCANNED_CHARS:]}"

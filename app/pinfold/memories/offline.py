"""Phase 1 without a model: the digest's best lines, changed files, and commands that worked."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pinfold.digests.choice import take_best
from pinfold.digests.lines import LITTLE, DigestLine, Kind
from pinfold.digests.sentences import ends
from pinfold.memories import statements
from pinfold.memories.extract import Extraction
from pinfold.memories.proving import Proving
from pinfold.memories.records import Extracted
from pinfold.memories.source import SessionText, read
from pinfold.memories.statements import Citation, MemoryStatement
from pinfold.rollout.acts import act
from pinfold.rollout.items import Item
from pinfold.sanitize import one_line

SAID, DONE = 900, 500
"""Tokens of sentences, and of commands that worked."""
FILES = 20
_SENTENCE, _SUMMARY, _QUOTE = 300, 1_200, 160
"""Characters."""
_WORTH = 3 * LITTLE
"""Information that a session without any action needs to be worth remembering."""
_ACTS: tuple[Kind, ...] = ("run", "commit", "edit", "failed")


def read_offline(folder: Path) -> tuple[str, Extraction]:
    """The working directory of a session, and what is worth remembering. Can run in any process.
    Raises `JournalError`, `OSError`."""
    session = read(folder)
    return session.cwd, offline(session) if session.is_talk else Extraction(None)


def offline(source: SessionText) -> Extraction:
    """What is worth remembering of a session, in its own words."""
    record = source.record()
    lines = record.lines()
    said = [line for line in _worth_keeping(lines) if line.told >= LITTLE and not _leads(line)]
    done = [line for line in lines if line.kind in ("run", "commit")]
    again = [line for line in done if line.kind == "commit" or record.times(line.key) > 1]
    information = sum(line.told for line in said)
    acted = any(line.kind in _ACTS for line in lines)
    if not said or (not acted and information < _WORTH):
        return Extraction(None)
    found = [
        *_spoken(take_best(said, record, SAID), source.session),
        *_worked(take_best(again or done, record, DONE), source.session),
        *_changed(source, lines),
    ]
    proven, left_out = Proving(source).verbatim(found)
    if not proven:
        return Extraction(None, left_out=left_out)
    made = Extracted(statements.record(proven), _summary(source, said), _slug(said))
    return Extraction(source.safe(made), len(proven), left_out)


def _worth_keeping(lines: Sequence[DigestLine]) -> Iterator[DigestLine]:
    """The user's sentences and the agent's reports; what it says at work is soon out of date."""
    last = max((line.n for line in lines if line.kind in ("report", "agent")), default=0)
    for line in lines:
        if line.kind in ("user", "report") or (line.kind == "agent" and line.n == last):
            yield line


def _leads(line: DigestLine) -> bool:
    """Whether it means nothing without the question before it, or the list after it."""
    return bool(line.lead) or line.text.rstrip().endswith((":", "："))


def _spoken(lines: Sequence[DigestLine], session: str) -> Iterator[MemoryStatement]:
    for line in lines:
        kind: statements.StatementKind = "said" if line.kind == "user" else "fact"
        yield MemoryStatement(kind, ends(line.text, _SENTENCE), (Citation(session, line.n),))


def _worked(lines: Sequence[DigestLine], session: str) -> Iterator[MemoryStatement]:
    for line in lines:
        command = line.text.partition(" -> ")[0].removeprefix("$ ")
        if line.kind == "commit":
            yield MemoryStatement("fact", line.text, (Citation(session, line.n),))
        elif "…" not in command:
            text = command if "`" in command else f"`{command}`"
            yield MemoryStatement("command", text, (Citation(session, line.n),))


def _changed(source: SessionText, lines: Sequence[DigestLine]) -> Iterator[MemoryStatement]:
    """The files that were changed last, each with an added line as its quote."""
    best: dict[int, DigestLine] = {}
    for line in lines:
        if line.kind == "added" and (line.n not in best or best[line.n].told < line.told):
            best[line.n] = line
    newest: dict[str, int] = {}
    for n, paths in _edits(source.items):
        for path in paths:
            newest.pop(path, None)
            newest[path] = n
    for path, n in list(newest.items())[: -FILES - 1 : -1]:
        quote = best[n].text.removeprefix("+ ") if n in best else ""
        quote = quote if len(quote) <= _QUOTE and "…" not in quote else ""
        cites = (Citation(source.session, n),)
        yield MemoryStatement("file", f"Changed `{path}`.", cites, quote, path if quote else "")


def _edits(items: Sequence[Item]) -> Iterator[tuple[int, tuple[str, ...]]]:
    calls = {(item.response, item.call_id): item for item in items if item.kind == "tool_call"}
    for item in items:
        if item.kind == "tool_result":
            done = act(calls.get((item.response, item.call_id)), item)
            if done is not None and done.kind == "edit" and done.ok:
                yield item.n, done.paths


def _summary(source: SessionText, said: Sequence[DigestLine]) -> str:
    asked = next((line.text for line in said if line.kind == "user"), "")
    reply = next((item for item in reversed(source.items) if item.kind == "assistant"), None)
    ended = one_line(reply.content) if reply else ""
    return f"Asked: {ends(asked, _SUMMARY // 2)}\nEnded: {ends(ended, _SUMMARY // 2)}"


def _slug(said: Sequence[DigestLine]) -> str:
    asked = next((line for line in said if line.kind == "user"), said[0])
    return " ".join(asked.text.split()[:6])

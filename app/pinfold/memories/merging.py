"""Consolidation without a model: of statements with the same words the newest wins."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pinfold.digests.words import words
from pinfold.memories.blocks import MarkdownBlock, blocks, joined, parted
from pinfold.memories.places import MEMORY, SUMMARY
from pinfold.memories.proof import HEADINGS, RecordIndex, prove
from pinfold.memories.records import Output
from pinfold.memories.statements import KINDS, MemoryStatement, cited, parse, statements
from pinfold.memories.trees import Tree, text

SUMMARY_CHARACTERS = 14_000
"""About 3,500 tokens, which sessions begin with."""
_FIGURE = re.compile(r"[$€£]?\d[\d.,]*\w{0,2}")


@dataclass(frozen=True, slots=True)
class _Dated:
    """A statement with the folder, date and use of its record."""

    statement: MemoryStatement
    folder: str
    updated: float
    used: int

    @property
    def key(self) -> tuple[str, str, frozenset[str]]:
        return self.folder, self.statement.kind, wording(self.statement.text)


def wording(text: str) -> frozenset[str]:
    """The words of a statement without its figures, so that a new figure replaces an old one."""
    said = words(text)
    return frozenset(word for word in said if not _FIGURE.fullmatch(word)) or frozenset(said)


def merged(
    before: Mapping[str, bytes], selected: Sequence[Output], every: Iterable[Output]
) -> Tree:
    """`MEMORY.md` and `memory_summary.md`, made from the selected records by rules.

    Lines without citations are the user's and stay; lines that no record of `every` confirms any
    more are removed.
    """
    records = {output.session_id: output for output in every}
    lookup = RecordIndex(records.values())
    said = [
        _dated(statement, output)
        for output in selected
        for statement in statements(output.raw_memory)
    ]
    memory = text(before.get(MEMORY, b"")) or ""
    for block in blocks(memory):
        proven = prove(block.text, lookup) if block.kind == "statement" else None
        if isinstance(proven, str) and (statement := parse(proven)):
            sources = [records[cite.session] for cite in statement.cites]
            said.append(
                _dated(statement, max(sources, key=lambda source: source.source_updated_at))
            )
    newest: dict[object, _Dated] = {}
    for dated in sorted(said, key=lambda newer: newer.updated):
        newest[dated.key] = dated
    kept = list(newest.values())
    return {
        MEMORY: _page("# Memory", memory, kept).encode(),
        SUMMARY: _page(
            "# Memory summary", text(before.get(SUMMARY, b"")) or "", _for_summary(kept)
        ).encode(),
    }


def _dated(statement: MemoryStatement, record: Output) -> _Dated:
    return _Dated(statement, record.cwd, record.source_updated_at, record.usage_count)


def _for_summary(kept: Iterable[_Dated]) -> list[_Dated]:
    """The statements that fit into the summary: by use, then the newest of each kind in turn."""
    room, best = SUMMARY_CHARACTERS, []
    turns = Counter[tuple[int, str]]()
    ranked: list[tuple[int, int, int, _Dated]] = []
    for statement in sorted(kept, key=lambda said: -said.updated):
        kind = statement.statement.kind
        ranked.append((-statement.used, turns[statement.used, kind], KINDS.index(kind), statement))
        turns[statement.used, kind] += 1
    for *_, said in sorted(ranked, key=lambda found: found[:3]):
        room -= len(str(said.statement)) + 1
        if room >= 0:
            best.append(said)
    return best


def _page(title: str, before: str, kept: Sequence[_Dated]) -> str:
    """A page of statements by folder, after what the user wrote there."""
    above, below = parted(blocks(before))
    users = _users_lines(above)
    newest = {
        statement.folder: statement.updated
        for statement in sorted(kept, key=lambda said: said.updated)
    }
    folders = sorted(newest, key=lambda folder: (-newest[folder], folder))
    made = [MarkdownBlock("heading", title), MarkdownBlock("space", ""), *users.pop("", [])]
    for folder in dict.fromkeys([*(f"## {place}" for place in folders), *users]):
        here = [said for said in kept if f"## {said.folder}" == folder]
        here.sort(key=lambda said: (KINDS.index(said.statement.kind), -said.updated))
        made += [
            MarkdownBlock("space", ""),
            MarkdownBlock("heading", folder),
            MarkdownBlock("space", ""),
        ]
        made += users.get(folder, [])
        made += [MarkdownBlock("statement", str(said.statement)) for said in here]
    return joined(made, below)


def _users_lines(above: Iterable[MarkdownBlock]) -> dict[str, list[MarkdownBlock]]:
    found: dict[str, list[MarkdownBlock]] = {}
    heading = ""
    for block in above:
        if block.kind == "heading":
            heading = "" if block.text in HEADINGS else block.text.strip()
        elif block.kind == "statement" and not any(cited(block.text)):
            found.setdefault(heading, []).append(block)
    return found

"""Checks what a consolidation wrote against the records that it cites. No model is asked.

A line is proven if each item that it cites is cited by a statement of that session's record, and
those statements contain its names, its numbers and at least half of its words. A rule or a decision
must be one there too, and a single rule there must contain all words of a rule.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from pinfold.digests.words import words
from pinfold.memories.blocks import BLANK, MarkdownBlock, blocks, joined, parted
from pinfold.memories.records import Output
from pinfold.memories.statements import (
    KINDS,
    Citation,
    MemoryStatement,
    cited,
    matching,
    parse,
    statements,
    without_cites,
)
from pinfold.rollout import mentions

HEADINGS = frozenset(
    ["# Memory", "# Memory summary", *(f"## {kind.title()}s" for kind in KINDS)]
    + [f"### {kind.title()}s" for kind in KINDS]
)
"""Headings that need no proof."""
_ORDERS = ("rule", "decision")
_SHARED = 0.5
"""Share of a line's words that must be in what it cites."""
MAX_UNCONFIRMED = 50
LONGEST = 4_000
"""Characters; a longer statement is left out."""
_BREAK = MarkdownBlock("space", "***")
"""Replaces a heading, so that the lines around it do not join."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A line that no record confirms."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked file."""

    text: str
    proven: int
    doubts: tuple[Doubt, ...]


class RecordIndex:
    """The statements of all records, by what they cite."""

    def __init__(self, outputs: Iterable[Output]) -> None:
        self._outputs = {output.session_id: output for output in outputs}
        self._cited: dict[Citation, list[MemoryStatement]] = {}
        self._words: dict[str, frozenset[str]] = {}
        for output in self._outputs.values():
            for statement in statements(output.raw_memory):
                for item in {cite.item for cite in statement.cites}:
                    self._cited.setdefault(Citation(output.session_id, item), []).append(statement)

    def whole(self, cite: Citation) -> Citation | None:
        """The citation with the session's whole id; None if no record has it."""
        known = cite.session in self._outputs
        found = [cite.session] if known else matching(cite.session, self._outputs)
        whole = Citation(found[0], cite.item) if len(found) == 1 else None
        return whole if whole in self._cited else None

    def saying(self, cites: Iterable[Citation]) -> list[MemoryStatement]:
        """The statements that cite any of these."""
        return list(dict.fromkeys(said for cite in cites for said in self._cited.get(cite, ())))

    def folder(self, session: str) -> str:
        return self._outputs[session].cwd

    def supports_heading(self, heading: str) -> bool:
        """Whether one record contains all words of a heading; of a path, whether a session worked
        there."""
        name = heading.lstrip("#").strip()
        if name.startswith(("/", "~")):
            return any(name == output.cwd for output in self._outputs.values())
        wanted = set(words(name))
        return any(wanted <= self._vocabulary(output) for output in self._outputs)

    def _vocabulary(self, session: str) -> frozenset[str]:
        if session not in self._words:
            output = self._outputs[session]
            said = f"{output.raw_memory}\n{output.rollout_summary}\n{output.cwd}\n"
            said += f"{output.rollout_slug} {output.rollout_slug.replace('-', ' ')}"
            self._words[session] = frozenset(words(said))
        return self._words[session]


def checked(
    text: str,
    before: str,
    records: RecordIndex,
    gone: Collection[str] = (),
    *,
    steps: bool = False,
) -> Checked:
    """Check a file that a consolidation wrote; `before` is what it replaces. Unproven lines are
    moved to the end, below `Unconfirmed`.

    Lines without citations that were there before are the user's: they stay, and are put back if
    they were left out. Lines that cite a session in `gone` are removed, unless their other
    citations confirm them. Each other line must be a statement: sessions read single lines, and
    would take one without kind or citation for the user's. A skill has `steps` instead, with code
    below them.
    """
    above, below = parted(blocks(text))
    was_above, was_below = (
        {block.text.strip() for block in part} for part in parted(blocks(before))
    )
    kept: list[MarkdownBlock] = []
    moved: list[MarkdownBlock] = []
    doubts: list[Doubt] = []
    proven = 0
    for block in above:
        bare = block.text.strip()
        if block.kind == "space" or (block.kind != "statement" and bare in was_above):
            kept.append(block)
        elif block.kind == "heading":
            if bare in HEADINGS or records.supports_heading(bare):
                kept.append(block)
            else:
                kept.append(_BREAK)
                doubts.append(Doubt(bare, "its words are in no record"))
        elif block.kind == "front" and not steps:
            doubts.append(Doubt(bare, "only a skill begins so"))
        elif block.kind == "front":
            cites = list(filter(None, map(records.whole, cited(text))))
            if why := _why_unsupported(_front_values(bare), None, records.saying(cites), ()):
                doubts.append(Doubt(bare, why))
            else:
                kept.append(block)
        elif bare in was_above and _is_users(block):
            kept.append(block)
        else:
            found = prove(block.text, records) if steps else _prove_single(block.text, records)
            if isinstance(found, str):
                proven += 1
                kept.append(MarkdownBlock("statement", found))
                continue
            doubts.append(found)
            if not _cites(bare, gone) and len(bare) <= LONGEST:
                moved.append(block)
    left = {block.text.strip() for block in kept}
    users = [block for block in parted(blocks(before))[0] if _is_users(block)]
    for block in users:
        if block.text.strip() not in left:
            kept += [_BREAK, block] if block.text.lstrip()[0] in "`~" else [BLANK, block]
    known = {block.text.strip() for block in moved}
    for block in below:
        bare = block.text.strip()
        uncited = gone and not any(cited(bare))  # it may come from a forgotten session
        if bare not in known and not _cites(bare, gone) and not uncited:
            moved.append(block)
            if bare not in was_below:
                doubts.append(Doubt(bare, "it says so itself"))
    return Checked(joined(kept, moved[:MAX_UNCONFIRMED]), proven, tuple(doubts))


def _prove_single(text: str, records: RecordIndex) -> str | Doubt:
    """`prove`, for a text that must be a single statement."""
    if not any(cited(text)) or parse(text):
        return prove(text, records)
    return Doubt(text, "it is not a statement on its own line")


def prove(text: str, records: RecordIndex) -> str | Doubt:
    """The proven statement, with whole citations and the quote that confirms it."""
    if len(text) > LONGEST:
        return Doubt(f"{text[:200]}…", "it is too long")
    statement = parse(text)
    given = tuple(statement.cites) if statement else tuple(cited(text))
    if not given:
        return Doubt(text, "it cites nothing")
    whole = {cite: found for cite in given if (found := records.whole(cite))}
    if not whole or (statement is None and len(whole) < len(set(given))):
        return Doubt(text, "no record has what it cites")
    cites = tuple(dict.fromkeys(whole.values()))
    support = records.saying(cites)
    folders = list(dict.fromkeys(records.folder(cite.session) for cite in cites))
    said = statement.text if statement else without_cites(text)
    if why := _why_unsupported(said, statement, support, folders):
        return Doubt(text, why)
    if statement is None:
        return text
    quote, file = statement.quote, statement.file
    if not quote:
        proof = next((source for source in support if source.file), support[0])
        quote, file = proof.quote, proof.file
    return str(replace(statement, cites=cites, quote=quote, file=file))


def _why_unsupported(
    said: str,
    statement: MemoryStatement | None,
    support: Sequence[MemoryStatement],
    folders: Sequence[str],
) -> str:
    """Why the supporting statements do not say it; empty if they do."""
    kind = statement.kind if statement else "fact"
    if kind in _ORDERS:
        support = [other for other in support if other.kind == kind]
        if not support:
            return f"there is no {kind} there"
    if statement and statement.quote:
        pairs = {(other.quote, other.file) for other in support}
        if (statement.quote, statement.file) not in pairs:
            return "its quote is not there"
    texts = [part for other in support for part in (other.text, other.quote, other.file) if part]
    source = mentions.ItemTexts((), [*texts, *folders])
    missing = source.missing(said, folders[0] if len(folders) == 1 else "")
    if missing:
        return f"nothing there says {', '.join(missing[:5])}"
    own = set(words(said))
    if kind == "rule":  # the words of two rules could make a third
        supported = any(own <= set(words("\n".join([other.text, *folders]))) for other in support)
    else:
        supported = len(own & set(words("\n".join([*texts, *folders])))) >= len(own) * _SHARED
    return "" if supported else "its wording differs from its source"


def purged(text: str, gone: Collection[str], records: RecordIndex) -> str:
    """A file without what only these sessions taught.

    Below `Unconfirmed`, lines without citations are removed too: they may come from these sessions.
    """
    above, below = parted(blocks(text))
    kept: list[MarkdownBlock] = []
    for block in above:
        if block.kind != "statement" or not _cites(block.text, gone):
            kept.append(block)
        elif statement := parse(block.text):
            others = tuple(cite for cite in statement.cites if not _cites(f"{cite}", gone))
            found = prove(str(replace(statement, cites=others, quote="", file="")), records)
            kept += [MarkdownBlock("statement", found)] if isinstance(found, str) else []
    if len(kept) < len(above):
        kept = _with_content(kept)
    left = [block for block in below if any(cited(block.text)) and not _cites(block.text, gone)]
    return joined(kept, left)


def _with_content(every: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
    """The blocks without empty headings; the title stays."""
    kept: list[MarkdownBlock] = []
    enough = 1
    """Headings of a higher level are empty, others not."""
    for block in reversed(every):
        if block.kind == "heading":
            level = len(block.text.split()[0])
            if 1 < level >= enough:
                continue
            enough = level
        elif block.kind != "space":
            enough = 7
        kept.append(block)
    return kept[::-1]


def _is_users(block: MarkdownBlock) -> bool:
    return block.kind == "statement" and not any(cited(block.text))


def _front_values(front: str) -> str:
    return re.sub(r"(?m)^(?:name|description):", "", front)


def _cites(text: str, sessions: Collection[str]) -> bool:
    return any(cite.session in sessions or matching(cite.session, sessions) for cite in cited(text))

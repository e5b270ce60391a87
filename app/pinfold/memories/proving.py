"""Checks what a model wrote about a session against its items. No model is asked."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from pinfold.compaction.claims import ClaimSources, confirmed
from pinfold.compaction.summary import Field, ItemQuote, SummaryEntry
from pinfold.digests.words import words
from pinfold.memories.source import SessionText
from pinfold.memories.statements import Citation, MemoryStatement, StatementKind
from pinfold.rollout import mentions, provenance, quotes
from pinfold.rollout.acts import Act, act
from pinfold.rollout.items import Item
from pinfold.sanitize import one_line

NOT_THE_USERS = "the user did not say so"
DID_NOT_WORK = "no command that worked is cited"
SAYS_NOTHING = "it says nothing"
TOO_LONG = "it is too long"
REPEATED = "it is repeated"
_MAX_TEXT, _MAX_QUOTE = 600, 240
"""Characters."""
_OWN_WORDS = 0.5
"""Share of a rule's words that the user must have typed in what it cites."""
_FIELDS: dict[StatementKind, Field] = {"rule": "constraints", "decision": "decisions"}
"""The fields of a summary whose check applies to these kinds."""

_NUMBER = re.compile(r"^\s*\d+(?:\t|→|[:|] ?| +\| ?)")
"""A line number, as tools that read files write it."""


class Quoted(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of an item, and words from it."""

    item: int
    quote: str


class ModelStatement(Struct, frozen=True, forbid_unknown_fields=True):
    """A statement as a model wrote it."""

    kind: StatementKind
    text: str
    evidence: list[Quoted]
    file: str = ""


class Proving:
    """Checks statements against one session. Blocking."""

    def __init__(self, source: SessionText) -> None:
        self._source = source
        entries = source.entries()
        self._sources = ClaimSources(entries, (), source.cwd)
        self._items = {item.n: item for item in source.items}
        self._partner = {entry.n: entry.partner for entry in entries}

    def proven(
        self, every: Iterable[ModelStatement]
    ) -> tuple[list[MemoryStatement], tuple[str, ...]]:
        """The statements that the session confirms, and why each other one is left out."""
        found: dict[str, MemoryStatement] = {}
        left_out: list[str] = []
        for said in every:
            result = self._statement(said)
            if isinstance(result, str):
                left_out.append(result)
            elif result.text.casefold() in found:
                left_out.append(REPEATED)
            else:
                found[result.text.casefold()] = result
        return list(found.values()), tuple(left_out)

    def verbatim(
        self, every: Iterable[MemoryStatement]
    ) -> tuple[list[MemoryStatement], tuple[str, ...]]:
        """The statements, in the session's own words, whose names and numbers are in what they
        cite; and why each other one is left out."""
        found: list[MemoryStatement] = []
        left_out: list[str] = []
        for statement in every:
            cited = {n for cite in statement.cites for n in (cite.item, self._partner[cite.item])}
            items = [item for n in cited if n and (item := self._items.get(n))]
            if missing := mentions.missing(statement.text, items, self._source.cwd):
                left_out.append(_unsupported_names(missing))
            else:
                found.append(statement)
        return found, tuple(left_out)

    def prose(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The lines of a summary whose names and numbers are in the session; and why each other
        one is left out."""
        checked, doubtful = confirmed(text, self._source.items, self._source.cwd)
        kept = [line for line in checked.splitlines() if line not in set(doubtful)]
        why = ("it names something not in the session",) * len(doubtful)
        return "\n".join(kept).strip(), why

    def _statement(self, said: ModelStatement) -> MemoryStatement | str:
        """The confirmed statement, or why it is left out."""
        text = one_line(said.text)
        if not text:
            return SAYS_NOTHING
        if len(text) > _MAX_TEXT:
            return TOO_LONG
        quoted = tuple(ItemQuote(evidence.item, evidence.quote) for evidence in said.evidence)
        field = _FIELDS.get(said.kind, "known_failures")
        entry = self._sources.check(SummaryEntry("", field, {"text": text}, quoted))
        if entry.unsupported:
            return entry.unsupported
        if entry.unconfirmed:
            return _unsupported_names(entry.unconfirmed)
        if said.kind in ("rule", "said") and not (text := self._users(text, entry.evidence)):
            return NOT_THE_USERS
        if said.kind == "command" and not any(map(self._worked, entry.evidence)):
            return DID_NOT_WORK
        quote, file = self._quote(entry.evidence, said.file)
        tools = dict.fromkeys(source.by for source in entry.evidence)
        if not file and said.kind != "command" and all(tools):
            text = f"said by {', '.join(tools)}: {text}"
        cites = dict.fromkeys(
            Citation(self._source.session, source.item) for source in entry.evidence
        )
        return MemoryStatement(said.kind, text, tuple(cites), quote, file)

    def _users(self, text: str, evidence: Sequence[ItemQuote]) -> str:
        """The text, if the user typed all of its words; their own sentences, if they typed most;
        else empty. A word that they did not type may reverse a rule."""
        typed = {
            source.quote: own
            for source in evidence
            if source.quote in one_line(own := provenance.words(self._items[source.item]))
        }
        told, own_words = set(words(text)), set(words("\n".join(typed.values())))
        if not typed or len(told & own_words) < _OWN_WORDS * len(told):
            return ""
        if told <= own_words:
            return text
        said = [quotes.found_in(quote, [own]) for quote, own in typed.items()]
        sentences = one_line(" ".join(dict.fromkeys(said)))
        return sentences if len(sentences) <= _MAX_TEXT else ""

    def _worked(self, source: ItemQuote) -> bool:
        done = self._act(source.item)
        return done is not None and done.kind == "command" and not done.failed

    def _act(self, n: int) -> Act | None:
        """What the call or result with that number did."""
        item, other = self._items[n], self._items.get(self._partner[n] or 0)
        call, result = (item, other) if item.kind == "tool_call" else (other, item)
        return act(call, result) if result is not None else None

    def _quote(self, evidence: Sequence[ItemQuote], file: str) -> tuple[str, str]:
        """The quote of the statement, and the file that it is a line of."""
        if file:
            for source in evidence:
                done = self._act(source.item)
                if done is None or done.kind not in ("read", "edit") or done.failed:
                    continue
                if self._is_of(file, source.item, done) and self._is_line(source):
                    return source.quote, file
        return next(
            (source.quote for source in evidence if len(source.quote) <= _MAX_QUOTE), ""
        ), ""

    def _is_of(self, file: str, n: int, done: Act) -> bool:
        """Whether the call or result with that number read or changed the file."""
        if file in done.paths:
            return True
        pair = filter(None, map(self._items.get, (n, self._partner[n] or 0)))
        calls: list[Item] = [item for item in pair if item.kind == "tool_call"]
        return not mentions.missing(f"`{file}`", calls, self._source.cwd)

    def _is_line(self, source: ItemQuote) -> bool:
        item = self._items[source.item]
        diff = str(item.detail.get("diff", "")).splitlines()
        added = [line[1:] for line in diff if line.startswith("+")]
        lines = [_NUMBER.sub("", line) for line in item.content.splitlines()]
        return any(mentions.is_in(source.quote, one_line(line)) for line in (*added, *lines))


def _unsupported_names(names: Sequence[str]) -> str:
    return f"nothing that it cites says {', '.join(names)}"

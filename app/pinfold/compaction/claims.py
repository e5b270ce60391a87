"""Checks what a model writes of a session against the items that it cites. Only speaker and wording
count, never meaning: a quote, a name, a number is in the items to the letter, or not.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pinfold.checkpoint.text import one_line
from pinfold.compaction import view
from pinfold.compaction.inserted import CORE_HEADER
from pinfold.compaction.summary import (
    Field,
    ItemQuote,
    SummaryEntry,
    keys_of,
    unconfirmed,
    unmarked,
)
from pinfold.rollout import mentions, provenance
from pinfold.rollout.items import Item

CITES_NOTHING = "it cites nothing"
NOT_QUOTED = "its quote is not in the items it cites"
NOBODYS_WORD = "neither the user nor the agent says so"
LIFTED = "an instruction out of a tool's output"

_MIN_QUOTE = 6
"""Characters of a quote that is not a whole item."""
_MAX_NAMED = 5
_RUN = 5
"""Words in a row that are no coincidence."""
_ORDERS: frozenset[Field] = frozenset({"task", "decisions", "constraints", "todo"})
"""What the agent obeys: only the user and the agent may set it."""
_CORE = re.compile(rf"(?:^|\n){re.escape(CORE_HEADER)}\n")
_CITED = re.compile(r"#(\d+)\b")
_WORD = re.compile(r"\w+")


class ClaimSources:
    """The texts of a window's items, to check claims against."""

    def __init__(
        self,
        entries: Iterable[view.WindowEntry],
        standing: Sequence[SummaryEntry] = (),
        cwd: str = "",
    ) -> None:
        """`standing` are confirmed entries, whose items may be gone."""
        self._cwd = cwd
        self._entries = {entry.n: entry for entry in entries}
        self._known = {
            entry.id: _confirmed_text(entry) for entry in standing if not entry.unsupported
        }
        self._texts: dict[int, str] = {}
        self._first_hand: dict[int, str] = {}
        """The parts of them that the user or the agent says."""
        others: list[str] = []
        for n, entry in self._entries.items():
            text = "\n".join(mentions.texts_of(entry.item))
            self._texts[n] = _spaced(text)
            self._first_hand[n] = _spaced(_first_hand(entry.item))
            # What the agent thinks or passes to a tool orders nothing, yet is no tool's output.
            if entry.item.kind not in ("user", "assistant", "reasoning", "tool_call"):
                others.append(text)
        self._whole = "\n".join(self._texts.values())
        self._first_hand_words = _words(
            "\n".join([*self._known.values(), *self._first_hand.values()])
        )
        self._other_words = _words("\n".join(others))

    def check(self, entry: SummaryEntry) -> SummaryEntry:
        """The entry with the evidence found, why none supports it, and its names that no cited item
        has."""
        entry = replace(entry, value={key: unmarked(part) for key, part in entry.value.items()})
        evidence = self.found(entry.evidence)
        doubts: list[str] = []
        if not entry.evidence:
            doubts.append(CITES_NOTHING)
        elif not evidence:
            doubts.append(NOT_QUOTED)
        elif not self.may_order(entry.field, evidence):
            doubts.append(NOBODYS_WORD)
        if entry.field in _ORDERS and self._is_lifted(entry):
            doubts.append(LIFTED)
        return replace(
            entry,
            evidence=evidence,
            unsupported="; ".join(doubts),
            unconfirmed=tuple(self._missing(entry, evidence)[:_MAX_NAMED]),
        )

    def found(self, evidence: Iterable[ItemQuote]) -> tuple[ItemQuote, ...]:
        """The quotes that exist, each with the item that has it, even if another was cited."""
        found: dict[ItemQuote, None] = {}
        for source in evidence:
            quote = _spaced(source.quote)
            n = self._saying(quote, source.item)
            if n is not None:
                item = self._entries[n].item
                by = item.name or "" if item.kind == "tool_result" else ""
                found[ItemQuote(n, quote, one_line(by))] = None
        return tuple(found)

    def may_order(self, field: Field, evidence: Iterable[ItemQuote]) -> bool:
        """Whether the user or the agent says it, for fields that the agent obeys."""
        return field not in _ORDERS or any(
            source.quote in self._first_hand.get(source.item, "") for source in evidence
        )

    def _missing(self, entry: SummaryEntry, evidence: Iterable[ItemQuote]) -> list[str]:
        cited = {quoted.item for quoted in evidence}
        cited |= {n for number in cited if (n := self._entries[number].partner) is not None}
        items = [self._entries[n].item for n in sorted(cited) if n in self._entries]
        source = mentions.ItemTexts(items, filter(None, [self._known.get(entry.id)]))
        return source.missing(_entry_text(entry), self._cwd)

    def _saying(self, quote: str, n: int) -> int | None:
        if self._holds(n, quote):
            return n
        if quote not in self._whole:
            return None
        said = [text for text in reversed(self._texts) if self._holds(text, quote)]
        # The user's and the agent's own words come before a tool's.
        own = (number for number in said if quote in self._first_hand[number])
        return next(own, said[0] if said else None)

    def _holds(self, n: int, quote: str) -> bool:
        text = self._texts.get(n, "")
        whole = bool(quote) and text == quote
        return whole or (len(quote) >= _MIN_QUOTE and mentions.is_in(quote, text))

    def _is_lifted(self, entry: SummaryEntry) -> bool:
        """Whether it repeats what a tool's output says and nobody else does."""
        words = _words(_entry_text(entry)).split()
        runs = (f" {' '.join(words[at : at + _RUN])} " for at in range(len(words) - _RUN + 1))
        return any(run in self._other_words and run not in self._first_hand_words for run in runs)


def confirmed(notes: str, items: Iterable[Item], cwd: str = "") -> tuple[str, tuple[str, ...]]:
    """A model's notes, each line marked that names what is not in the items that it cites,
    or in any where it cites none; and the lines marked."""
    every = {item.n: item for item in items}
    calls = {item.call_id: n for n, item in every.items() if item.kind == "tool_call"}
    whole = mentions.ItemTexts(every.values())
    lines: list[str] = []
    marked: list[str] = []
    for line in map(unmarked, notes.splitlines()):
        cited = [every[n] for n in map(int, _CITED.findall(line)) if n in every]
        cited += [every[calls[item.call_id]] for item in cited if item.call_id in calls]
        source = mentions.ItemTexts(cited) if cited else whole
        mark = unconfirmed(source.missing(line, cwd)[:_MAX_NAMED])
        lines.append(f"{line.rstrip()} ({mark})" if mark else line)
        marked += lines[-1:] if mark else []
    return "\n".join(lines), tuple(marked)


def _first_hand(item: Item) -> str:
    """What the user or the agent says in it: of what the host inserted, the protected core."""
    if item.kind == "user":
        return provenance.words(item)
    if item.kind == "assistant":
        return item.content
    # A summary without entries is prose: its heads may be anyone's.
    if item.kind == "checkpoint" or (item.kind == "summary" and "entries" in item.detail):
        _, *cores = _CORE.split(item.content)
        return cores[-1].partition("\n\n")[0] if cores else ""
    return ""


def _entry_text(entry: SummaryEntry) -> str:
    """Its text, paths and symbols marked as names."""
    keys = keys_of(entry.field)
    named = (key for key in keys if key in ("path", "name", "file") and entry.value[key])
    return "\n".join(
        [f"`{entry.value[key]}`" for key in named]
        + [entry.value[key] for key in keys if key not in ("path", "name", "file")]
    )


def _confirmed_text(entry: SummaryEntry) -> str:
    text = _entry_text(entry)
    for name in entry.unconfirmed:
        text = text.replace(name, "")
    return text


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "

"""The claim check: what an entry of a summary says has to stand in the items that it is about.

Wording is looked at, never meaning: a quote, a name, a number stands there to the letter or not.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from pinfold.checkpoint.ledger_names import call_texts, names
from pinfold.checkpoint.policy import imperative, normal, standing_order
from pinfold.compaction import view
from pinfold.compaction.checkpoint_text import CORE_HEADER
from pinfold.compaction.summary import Entry, Evidence, Field, line_of
from pinfold.rollout.items import Item

CITES_NOTHING = "it cites nothing"
NOT_QUOTED = "what it quotes stands nowhere"
NOBODYS_WORD = "neither the user nor the agent says so"
LIFTED = "an instruction out of a tool's output"

_MIN_QUOTE = 6
"""Characters of a quote that is not a whole item."""
_MAX_NAMED = 5
_RUN = 5
"""Words in a row that are no coincidence."""
_ORDERS: frozenset[Field] = frozenset({"task", "decisions", "constraints", "todo"})
"""What the agent goes by: only the user and the agent have a say in it."""
_CORE = re.compile(rf"(?:^|\n){re.escape(CORE_HEADER)}\n")
_NUMBER = re.compile(r"\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*")
_ALONE = re.compile(rf"(?<![\w.#/-])(?:{_NUMBER.pattern})(?!\w*[-/]\w|\.\w|\d)")
"""A number that is no part of a name."""
_COMMAND = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"\w+")


class Sources:
    """What the items of a window say, to look things up in."""

    def __init__(
        self, entries: Iterable[view.Entry], standing: Sequence[Entry] = (), cwd: str = ""
    ) -> None:
        """`standing` are entries that were found to hold, of which the items may be gone."""
        self._cwd = cwd
        self._texts: dict[int, str] = {}
        self._own: dict[int, str] = {}
        """Of these, what the user or the agent says."""
        known = [line_of(entry) for entry in standing if not entry.unsupported]
        others: list[str] = []
        for entry in entries:
            text = _said(entry)
            self._texts[entry.n] = _spaced(text)
            self._own[entry.n] = _spaced(_own(entry.item))
            # What the agent thinks or passes to a tool orders nothing, yet is no tool's output.
            if entry.item.kind not in ("user", "assistant", "reasoning", "tool_call"):
                others.append(text)
        self._whole = _spaced("\n".join([*known, *self._texts.values()]))
        self._numbers = {_plain(number) for number in _NUMBER.findall(self._whole)}
        self._own_words = _words("\n".join([*known, *self._own.values()]))
        self._other_words = _words("\n".join(others))

    def check(self, entry: Entry) -> Entry:
        """The entry with the evidence that was found, and with what of it is not supported."""
        evidence = self.found(entry.evidence)
        doubts: list[str] = []
        if not entry.evidence:
            doubts.append(CITES_NOTHING)
        elif not evidence:
            doubts.append(NOT_QUOTED)
        elif not self.may_order(entry.field, evidence):
            doubts.append(NOBODYS_WORD)
        if self._is_lifted(entry, evidence):
            doubts.append(LIFTED)
        missing = [name for name in _names(entry, self._cwd) if not self._stands(name)]
        if missing:
            doubts.append(f"stands nowhere: {', '.join(missing[:_MAX_NAMED])}")
        return replace(entry, evidence=evidence, unsupported="; ".join(doubts))

    def found(self, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
        """What is quoted, with the items that say it; a quote from another item finds its own."""
        found: dict[Evidence, None] = {}
        for each in evidence:
            quote = _spaced(each.quote)
            n = self._saying(quote, each.item)
            if n is not None:
                found[Evidence(n, quote)] = None
        return tuple(found)

    def may_order(self, field: Field, evidence: Iterable[Evidence]) -> bool:
        """Whether the user or the agent says what the agent is to go by."""
        return field not in _ORDERS or self._is_own(evidence)

    def _is_own(self, evidence: Iterable[Evidence]) -> bool:
        return any(each.quote in self._own.get(each.item, "") for each in evidence)

    def _saying(self, quote: str, n: int) -> int | None:
        if self._holds(n, quote):
            return n
        if quote not in self._whole:
            return None
        return next((each for each in reversed(self._texts) if self._holds(each, quote)), None)

    def _holds(self, n: int, quote: str) -> bool:
        text = self._texts.get(n, "")
        return bool(quote) and (text == quote or (len(quote) >= _MIN_QUOTE and quote in text))

    def _is_lifted(self, entry: Entry, evidence: Iterable[Evidence]) -> bool:
        """Whether it repeats what a tool's output told the agent to do."""
        text = line_of(replace(entry, evidence=()))
        if entry.field not in _ORDERS:
            ordered = imperative(text) or standing_order(text)
            if not ordered or self._is_own(evidence):
                return False
        words = _words(text).split()
        runs = (f" {' '.join(words[at : at + _RUN])} " for at in range(len(words) - _RUN + 1))
        return any(run in self._other_words and run not in self._own_words for run in runs)

    def _stands(self, name: str) -> bool:
        if name[0] == "#" and name[1:].isdigit() and int(name[1:]) in self._texts:
            return True
        if _NUMBER.fullmatch(name):
            return _plain(name) in self._numbers
        return _is_in(name, self._whole)


def _said(entry: view.Entry) -> str:
    """All that an item says; of a call's arguments also what their JSON stands for."""
    item = entry.item
    if item.kind == "tool_call":
        return "\n".join([item.name or "", item.content, *call_texts(item)])
    return item.content


def _own(item: Item) -> str:
    """What the user or the agent says in it: of what the host inserted, the protected core."""
    if item.kind in ("user", "assistant"):
        return item.content
    # A summary without entries is prose: its heads may be anyone's.
    if item.kind == "checkpoint" or (item.kind == "summary" and "entries" in item.detail):
        _, *cores = _CORE.split(item.content)
        return cores[-1].partition("\n\n")[0] if cores else ""
    return ""


def _names(entry: Entry, cwd: str) -> Iterator[str]:
    """What has to stand somewhere to the letter: paths, symbols, commands, numbers."""
    found: dict[str, None] = {}
    for key, value in entry.value.items():
        if key in ("path", "name", "file"):
            found[_below(value, cwd)] = None
            continue
        found.update(dict.fromkeys(_spaced(command) for command in _COMMAND.findall(value)))
        found.update(dict.fromkeys(name.text for name in names(value, cwd)))
        found.update(dict.fromkeys(_ALONE.findall(value)))
    return (name for name in found if name)


def _plain(number: str) -> str:
    return number.replace(",", "").replace("_", "")


def _below(path: str, cwd: str) -> str:
    return path.removeprefix(cwd.rstrip("/") + "/").removeprefix("./") if cwd else path


def _is_in(name: str, text: str) -> bool:
    """Whether a text holds the name, and not only as a part of another."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        before, after = text[at - 1 : at], text[end : end + 1]
        if not (_joins(name[0], before) or _joins(name[-1], after)):
            return True
        at = text.find(name, at + 1)
    return False


def _joins(edge: str, next_to: str) -> bool:
    """Whether two neighbouring characters are of one word."""
    return (edge.isalnum() or edge == "_") and (next_to.isalnum() or next_to == "_")


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(normal(text)))} "

"""The lines that each item gives a digest: by its act and outcome, never by its wording."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct

from pinfold.digests.sentences import code, ends, plain, sentences
from pinfold.digests.words import BIT, information, letters, tokens, words
from pinfold.rollout.acts import Act
from pinfold.rollout.items import Item
from pinfold.rollout.provenance import pasted, typed
from pinfold.sanitize import one_line

Kind = Literal[
    "user",
    "pasted",
    "report",
    "agent",
    "child",
    "commit",
    "edit",
    "failed",
    "run",
    "code",
    "added",
    "found",
]
WEIGHT: dict[Kind, int] = {
    "user": 50,
    "pasted": 20,
    "report": 32,
    "agent": 18,
    "child": 14,
    "commit": 40,
    "edit": 24,
    "failed": 16,
    "run": 8,
    "code": 10,
    "added": 3,
    "found": 2,
}
"""Weight of a bit, in 1/20, by kind; a report is the last reply before a prompt."""
SPEAKER: dict[Kind, str] = {
    "user": "USER: ",
    "pasted": "USER pasted: ",
    "report": "agent: ",
    "agent": "agent: ",
    "child": "sub-agent: ",
    "code": "agent: ",
}
LITTLE = 40 * BIT
"""Information below which a message means nothing without what it answers."""
OFFER = 45
"""Tokens quoted of what it answers."""
_OWN_LETTERS = 0.55
"""Share of letters below which a sentence counts as pasted."""
_SHORT, _LONG = 600, 6_000
"""Characters of a line in its short form, and in its full one."""
_COMMAND, _OUTCOME, _FAILURE, _FOUND = 260, 180, 300, 300
_ANSWER = 900
_MAX_LINES = 400
"""Of one item."""
_MAX_COMPARED, _SHARES = 100, 16
"""Lines of an output that are compared, and the steps in which their unlikeness is measured: of
lines about as unlike the others the latest is taken."""
_MAX_OUTPUT, _LEAST_OUTPUT = 2_000, 12
"""Lines of a result that are searched, and characters of the shortest that is shown."""
RARE = 8 * BIT
"""Information from which on a word is rare."""
_SHARED = 2
"""Rare words that a line of a result must share with what was said."""
_COMMITTED = re.compile(r"^\[\S+ (?:\([^)]*\) )?[0-9a-f]{7,40}\] \S", re.MULTILINE)
"""What git says of a new commit."""
_CHOICE = re.compile(r"(?<![\w.])(\d{1,2}|[a-eA-E])(?!\w)")


class DigestLine(Struct, gc=False):
    """One line of the digest."""

    n: int
    """The item that it comes from."""
    kind: Kind
    text: str
    place: int
    """Position of the item among all items."""
    words: tuple[str, ...]
    told: int
    """The information of all its words."""
    cost: int
    """Tokens, with the line end and without the item's number."""
    key: str
    """Of lines with the same key only the newest is used."""
    percent: int = 100
    """Share of its weight that counts: text with few letters says little."""
    full: str = ""
    """All of it, where `text` is only its ends."""
    more: int = 0
    """Tokens that the full form takes beyond `cost`."""
    lead: str = ""
    """What a short message answers; it comes before the text."""


def line(
    n: int,
    place: int,
    kind: Kind,
    text: str,
    *,
    most: int = _SHORT,
    key: str = "",
    percent: int = 100,
    lead: str = "",
) -> DigestLine:
    """A line of at most `most` characters, with its full form where it is longer."""
    short, full = ends(text, most), ends(text, _LONG)
    cost = tokens(f"{lead}{short}\n") + 1
    known = tuple(words(lead + short))
    return DigestLine(
        n,
        kind,
        short,
        place,
        known,
        sum(map(information, known)),
        cost,
        ("user " if kind == "user" else "") + (key or short).casefold(),
        percent,
        full if full != short else "",
        tokens(f"{lead}{full}\n") + 1 - cost if full != short else 0,
        lead,
    )


def of_user(item: Item, place: int, answered: str, changed: str) -> Iterator[DigestLine]:
    """What the user typed and pasted. `answered` is the agent's last reply, `changed` its last
    edit: a short message is shown with what it answers."""
    told = [sentence for text in typed(item) for sentence in sentences(text)]
    lead = ""
    if told and sum(map(information, words(" ".join(told)))) < LITTLE:
        offered = offer(answered, " ".join(told), changed)
        lead = f"(to: “{offered}”) " if offered else ""
    for sentence in told:
        few = letters(sentence) <= _OWN_LETTERS
        yield line(item.n, place, "pasted" if few and not lead else "user", sentence, lead=lead)
        lead = ""
    blocks = [part for text in typed(item) for part in code(text)]
    yield from _pasted(item.n, place, blocks)  # nobody types them
    for text in pasted(item):
        yield from _pasted(item.n, place, (*sentences(text), *code(text)))


def _pasted(n: int, place: int, told: Sequence[str]) -> Iterator[DigestLine]:
    for part in told[:_MAX_LINES]:
        yield line(n, place, "pasted", part, percent=int(100 * letters(part) ** 2))


def of_agent(item: Item, text: str, place: int) -> Iterator[DigestLine]:
    for sentence in sentences(text)[:_MAX_LINES]:
        yield line(item.n, place, "agent", plain(sentence), most=_LONG)
    for part in code(text)[:_MAX_LINES]:
        yield line(item.n, place, "code", part, most=300)


def of_result(act: Act, item: Item, place: int) -> Iterator[DigestLine]:
    """A line for what a call did; more for what the user or another agent said there."""
    n, title = item.n, one_line(act.title)
    match act.kind:
        case "refused":
            text = f"(refused {ends(title, 160)}) {one_line(act.words)}".strip()
            yield line(n, place, "user", text, most=2 * _SHORT)
        case "question":
            asked = f"{ends(title, 300)}: " if title else ""
            yield line(
                n,
                place,
                "user",
                f"(answers) {asked}{one_line(act.words or act.text)}",
                most=_ANSWER,
            )
        case "agent":
            for sentence in sentences(act.text)[:_MAX_LINES]:
                yield line(n, place, "child", plain(sentence), most=400)
        case "plan" if not act.plan:
            for sentence in sentences(act.text)[:_MAX_LINES]:
                yield line(n, place, "pasted", sentence, most=400)
        case "command" if item.state == "interrupted":
            yield line(n, place, "run", f"{ends(title, _COMMAND)} -> interrupted")
        case _ if (act.prints or act.kind == "edit") and act.failed:
            said = [one_line(row) for row in act.text.splitlines() if row.strip()]
            why = ends(" | ".join((*said[:2], *said[2:][-1:])), _FAILURE)
            yield line(n, place, "failed", f"{ends(title, 240)} -> FAILED: {why}", most=2 * _SHORT)
        case "edit":
            counts = f" (+{act.added} -{act.removed})" if act.added or act.removed else ""
            yield line(n, place, "edit", f"{ends(title, _COMMAND)}{counts}")
            for row in added(act.diff)[:_MAX_LINES]:
                yield line(n, place, "added", f"+ {row}", most=200)
        case "command":
            yield _command(act, n, place, title)


def _command(act: Act, n: int, place: int, title: str) -> DigestLine:
    short = ends(title, _COMMAND)
    if committed := _COMMITTED.search(act.text):
        subject = act.text[committed.start() :].split("\n", 1)[0]
        return line(n, place, "commit", f"{short} -> {ends(subject, 200)}", most=2 * _SHORT)
    last = [row for row in act.text.splitlines() if row.strip()][-_MAX_COMPARED:]
    said = [one_line(row) for row in last]
    outcome = f" -> {ends(' | '.join(telling(said)), _OUTCOME)}" if said else ""
    return line(n, place, "run", f"{short}{outcome}", most=2 * _SHORT, key=title)


def telling(said: Sequence[str]) -> list[str]:
    """The last two lines of an output, which give the outcome, and before them the line least like
    the others: most of its information is in words that no other line has."""
    if len(said) < 3:
        return list(said)
    every = [words(row[:_SHORT]) for row in said]
    having = Counter(chain.from_iterable(every))

    def own(at: int) -> int:
        """The share of its information that no other line has, in 1/`_SHARES`."""
        alone = [word for word in every[at] if having[word] == 1]
        if len(alone) in (0, len(every[at])):  # its words need no measuring
            return _SHARES if any(map(information, alone)) else 0
        told = sum(map(information, every[at]))
        return _SHARES * sum(map(information, alone)) // max(1, told)

    most = least_like = -1
    for at in range(len(said) - 2, -1, -1):
        share = own(at)
        if share > most:
            most, least_like = share, at
        if most == _SHARES:
            break
    return [*said[least_like : len(said) - 2][:1], *said[-2:]]


def of_output(
    n: int,
    text: str,
    place: int,
    rare_words: Mapping[str, int],
    until: int,
    known: Collection[str],
) -> Iterator[DigestLine]:
    """The lines of a result that share rare words with what was said up to message `until`, but
    for those whose keys are `known`."""
    for row in text.splitlines()[:_MAX_OUTPUT]:
        said = one_line(row)
        if len(said) < _LEAST_OUTPUT or ends(said, _FOUND).casefold() in known:
            continue
        shared = rare_words.keys() & words(said[:_SHORT])
        if sum(rare_words[word] <= until for word in shared) >= _SHARED:
            yield line(n, place, "found", said, most=_FOUND)


def added(diff: str) -> list[str]:
    """The lines that an edit added, without those that it only moved."""
    lines = diff.splitlines()
    old = {row[1:].strip() for row in lines if row.startswith("-")}
    new = [row[1:].strip() for row in lines if row.startswith("+") and not row.startswith("+++")]
    return [row for row in new if len(row) > _LEAST_OUTPUT and row not in old]


def offer(reply: str, answer: str, changed: str) -> str:
    """What a short message answers, in some `OFFER` tokens: the option that it names, the last
    question, the last sentences of the reply, the last change."""
    told = [plain(sentence) for sentence in sentences(reply)]
    raw = sentences(reply)
    picked: list[str | None] = []
    for mark in _CHOICE.findall(answer)[:3]:
        option = re.compile(rf"[\W_]*(?:\w+ )?{re.escape(mark)}\b[\W_]", re.IGNORECASE)
        picked.append(next((plain(row) for row in raw if option.match(row)), None))
    picked += [row for row in told if row.rstrip("*_ )").endswith(("?", "？"))][-1:]
    picked += told[::-1][:2]
    if changed and not told:
        picked.append(changed)
    kept: list[str] = []
    for part in dict.fromkeys(choice for choice in picked if choice):
        short = ends(part, 220)
        if not kept or tokens(" ".join([*kept, short])) <= OFFER:
            kept.append(short)
    return " ".join(kept)

"""Which of several options, that the agent named, a short answer picks."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from pinfold.checkpoint.commitments_cues import languages, plain, telling
from pinfold.checkpoint.commitments_prose import MAX_CHARS, MAX_READ_CHARS, sentences
from pinfold.checkpoint.text import clip, one_line

MAX_ANSWER = 80
"""Characters of an answer that does nothing but pick."""
_NAMED = r"(?:(?:option|variante?|opcion|opción|plan|approach|weg|solution|vorschlag)\s+)"
_LINE = re.compile(
    rf"^\W*{_NAMED}?(?P<label>[a-d]|\d)(?:\W?[).:]|\W*\s[-–—])\W*\s(?P<said>\S.*)$", re.IGNORECASE
)
_INLINE = re.compile(
    rf"(?:^|(?<=[\s(]))(?:{_NAMED}(?P<name>[a-d]|[1-4])\W{{1,3}}\s?|\(?(?P<label>[a-d]|[1-4])[):]\W*\s)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*[-*•]\s+(?P<said>\S.*)$")
_END = re.compile(r"[.?!](?:\s|$)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_MAX_ANSWERS = 3
"""Sentences of a message in which it may answer: people remark on other things before."""
_CLAUSES = re.compile(r"[,;:()–—]|\s-\s")
_TOKEN = re.compile(r"[\w'-]+")
_MIN_OPTIONS, _MAX_COUNTED = 2, 4
_STEM = 5
"""Characters by which a word is known again."""

Option = tuple[str, str]
"""Its label, which may be empty, and its words."""


def chosen(text: str, answer: str) -> tuple[str, ...]:
    """The words of the options in the agent's `text` that `answer` picks; empty where none is."""
    if len(answer) > MAX_ANSWER or answer.rstrip().endswith("?"):
        return ()
    clauses = list(_clauses(answer))
    for options, offered in _choices(text):
        for clause in clauses:
            if found := _named(options, clause) or (offered and _described(options, clause)):
                return tuple(clip(options[at][1], MAX_CHARS) for at in found)
            if _rest(clause):
                break  # it says something else first
    return ()


def answers(text: str) -> list[str]:
    """The first sentences of a message, each on one line; however short."""
    line = next((line for line in text[:MAX_READ_CHARS].splitlines() if line.strip()), "")
    return [one_line(each) for each in _SENTENCE.split(line) if each.strip()][:_MAX_ANSWERS]


def recommended(text: str) -> tuple[str, ...]:
    """The option that the agent itself would take, in the same message."""
    for each in reversed(list(sentences(text))):
        said = plain(each.text)
        if any(cues.proposes.search(said) or cues.leans.search(said) for cues in languages()):
            return chosen(text, each.text)
    return ()


@lru_cache(maxsize=2)  # each of an answer's sentences is held against the same message
def _choices(text: str) -> tuple[tuple[Sequence[Option], bool], ...]:
    """What the agent lays before the user, by the form in which it does so, and whether that form
    offers a choice: any list may hold the words of an answer."""
    lines = text[:MAX_READ_CHARS].splitlines()
    labelled = [(m["label"].lower(), m["said"]) for line in lines if (m := _LINE.match(line))]
    bullets = [("", m["said"]) for line in lines if (m := _BULLET.match(line))]
    inline = [each for line in lines for each in _inline(line)]
    every = [each.text for each in sentences(text)]
    offered = "?" in text or any(cues.offers.search(plain(text)) for cues in languages())
    lists = [(each, offered) for each in (labelled, inline, bullets)]
    told = (_others(every), _counted(every), *map(_either, reversed(every)))
    return tuple(
        ([(label, one_line(said).strip("*_ ")) for label, said in options], offers)
        for options, offers in (*lists, *((each, True) for each in told))
        if len(options) >= _MIN_OPTIONS
    )


def _inline(line: str) -> list[Option]:
    marks = list(_INLINE.finditer(line))
    labels = "".join(mark["name"] or mark["label"] for mark in marks).lower()
    if len(marks) < _MIN_OPTIONS or labels not in ("abcd"[: len(marks)], "1234"[: len(marks)]):
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(line)]
    said = [line[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
    said[-1] = _END.split(said[-1])[0]
    either = "|".join(cues.either_or for cues in languages())
    return [
        (label, re.sub(rf"[\s,;.(]*(?:\b(?:{either}))?[\s(]*$", "", each))
        for label, each in zip(labels, said, strict=True)
    ]


def _either(sentence: str) -> list[Option]:
    """`Either we wait, or we go.`; `I can wait or go.`"""
    for cues in languages():
        parts = re.split(
            rf",?\s+{cues.either_or}\s+", f" {sentence.strip('¿¡')}", flags=re.IGNORECASE
        )
        said = [part.strip(" ,.?!") for part in parts]
        said[0] = re.sub(rf"^{cues.either}\b\s*", "", said[0], flags=re.IGNORECASE)
        said = [part for part in said if telling(plain(part))]
        if len(said) >= _MIN_OPTIONS:
            return [("", part) for part in said]
    return []


def _others(every: list[str]) -> list[Option]:
    """`We could wait. Alternatively, we go.`"""
    for before, each in pairwise(every):
        said = plain(each)
        if any(cues.other.search(said) for cues in languages()):
            return [("", before), ("", each)]
    return []


def _counted(every: list[str]) -> list[Option]:
    """`The first is to wait. The second is to go.`"""
    found: list[Option] = []
    for each in every:
        begins = _TOKEN.findall(plain(each))[:2]
        if any(cues.ordinals[len(found)].fullmatch(w) for cues in languages() for w in begins):
            found.append(("", each))
        if len(found) == _MAX_COUNTED:
            break
    return found


def _clauses(answer: str) -> Iterator[list[str]]:
    """The words of each, up to where a reason or a condition begins."""
    said = plain(answer)
    for cues in languages():
        said = said[: found.start()] if (found := cues.reason.search(said)) else said
    for clause in _CLAUSES.split(said):
        yield _TOKEN.findall(clause)


def _rest(words: list[str]) -> list[str]:
    """Those that say more than that something is picked."""
    return [word for word in words if not any(word in cues.choosing for cues in languages())]


def _named(options: Sequence[Option], words: list[str]) -> list[int]:
    """The options that these words name by their place or label, saying nothing else."""
    rest = _rest(words)
    if any(cues.both.fullmatch(" ".join(rest or words)) for cues in languages()):
        return list(range(len(options)))
    places = [_ordinal(word, len(options)) for word in rest]
    if not any(at is not None for at in places):
        places = [_labelled(word, options) for word in rest or words]
        places = places if rest else [at for at in places if at is not None]
    found = {at for at in places if at is not None}
    return list(found) if len(found) == 1 and None not in places else []


def _described(options: Sequence[Option], words: list[str]) -> list[int]:
    """The one option that holds all that these words say."""
    wanted = {word[:_STEM] for word in _rest(words)}
    held = [at for at, (_, said) in enumerate(options) if wanted and wanted <= _stems(said)]
    return held if len(held) == 1 else []


def _ordinal(word: str, count: int) -> int | None:
    for cues in languages():
        if cues.last.fullmatch(word):
            return count - 1
        for at, ordinal in enumerate(cues.ordinals):
            if ordinal.fullmatch(word) and at < count:
                return at
    return None


def _labelled(word: str, options: Sequence[Option]) -> int | None:
    labels = [label for label, _ in options]
    if word in labels:
        return labels.index(word)
    if any(labels) or len(word) != 1:
        return None
    at = "1234".find(word)
    return at if 0 <= at < len(options) else None


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _TOKEN.findall(plain(text))}

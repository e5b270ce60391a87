"""What the agent proposed and the user agreed to, in the agent's words."""

import re
from collections.abc import Iterator

from pinfold.checkpoint.commitments_cues import languages, plain, telling
from pinfold.checkpoint.commitments_prose import LEAD_IN, MAX_CHARS, MAX_READ_CHARS, sentences
from pinfold.checkpoint.text import clip, one_line

_MAX_CONSENT = 80
"""Characters of a sentence that does nothing but agree."""
_MAX_FOLLOWING = 3
"""Sentences that a proposal announces, at most."""
_MIN_TELLING = 2
"""Words of a question that says what is proposed."""
_OPTION = re.compile(
    r"^\W*(?:(?:option|variante?|opcion|plan|approach)\s+)?(?P<label>[a-d]|\d)\s*[).:]\W*"
    r"(?P<said>\S.*)$",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\b(?:[a-d]|\d)$")
_ORDINALS = re.compile(
    r"\b(?:(first|erste|premiere?|primer)|(second|zweite|deuxieme|segund)"
    r"|(third|dritte|troisieme|tercer))"
)


def consent(text: str) -> str | None:
    """The sentence with which a user's message agrees to something; None where none does."""
    first = next(sentences(text[:MAX_READ_CHARS]), None)
    if first is None or len(first.text) > _MAX_CONSENT:
        return None
    said = plain(first.text)
    return first.text if any(cues.consent.fullmatch(said) for cues in languages()) else None


def proposed(text: str, said: str) -> tuple[str, ...]:
    """What of the agent's message the consent `said` is about; empty where nothing is proposed."""
    told = plain(said)
    if chosen := _option(text, told):
        return (chosen,)
    firm = any(cues.assents.search(told) for cues in languages())
    every = [each.text for each in sentences(text)]
    if not every or not (firm or every[-1].endswith("?")):
        return ()  # `ok` to a report is no decision
    for at in reversed(range(len(every))):
        if _proposes(every[at]) and (found := tuple(_told(every, at))):
            return found
    return ()


def _option(text: str, told: str) -> str | None:
    """What stands behind the label that was chosen."""
    options = {
        found["label"].lower(): one_line(found["said"])
        for line in text[:MAX_READ_CHARS].splitlines()
        if (found := _OPTION.match(line))
    }
    if len(options) < 2:  # one alone is no choice
        return None
    chosen: str | None = None
    if ordinal := _ORDINALS.search(told):
        at = next(at for at, group in enumerate(ordinal.groups()) if group)
        chosen = list(options.values())[at] if at < len(options) else None
    elif label := _LABEL.search(told):
        chosen = options.get(label[0])
    return clip(chosen, MAX_CHARS) if chosen else None


def _proposes(sentence: str) -> bool:
    said = plain(sentence)
    return any(cues.proposes.search(said) for cues in languages())


def _told(every: list[str], at: int) -> Iterator[str]:
    """The proposing sentence, and what it announces."""
    if every[at].endswith("?") and not _is_telling(plain(every[at])):
        return
    found = LEAD_IN.match(every[at])
    yield found[2] if found and _proposes(found[1]) else every[at]
    if every[at].endswith(":"):
        yield from every[at + 1 : at + 1 + _MAX_FOLLOWING]


def _is_telling(asked: str) -> bool:
    """Whether a question says what it is about."""
    found = (cues.assents.search(asked) for cues in languages())
    anyway = any(each and " " in each[0] for each in found)  # "Shall I go ahead?"
    return not anyway and len(telling(asked)) >= _MIN_TELLING

"""What the agent proposed and the user agreed to, in the agent's words."""

from collections.abc import Iterator

from pinfold.checkpoint.commitments_chosen import answers, chosen, recommended
from pinfold.checkpoint.commitments_cues import languages, plain, telling
from pinfold.checkpoint.commitments_prose import LEAD_IN, sentences

_MAX_CONSENT = 80
"""Characters of a sentence that does nothing but agree."""
_MAX_FOLLOWING = 3
"""Sentences that a proposal announces, at most."""
_MIN_TELLING = 2
"""Words of a question that says what is proposed."""


def agreed(heard: str, text: str) -> tuple[str, tuple[str, ...]]:
    """The words with which a user's message agrees to something in what the agent said before it,
    and what that is; empty where it does not."""
    for answer in answers(text):
        if found := chosen(heard, answer):
            return answer, found
    said = consent(text)
    return (said, proposed(heard, said)) if said else ("", ())


def consent(text: str) -> str | None:
    """The sentence with which a user's message agrees to something; None where none does."""
    for each in answers(text):
        said = plain(each)
        agrees = any(cues.consent.fullmatch(said) for cues in languages())
        if agrees and len(each) <= _MAX_CONSENT and not each.endswith("?"):
            return each
    return None


def proposed(text: str, said: str) -> tuple[str, ...]:
    """What of the agent's message the consent `said` is about; empty where nothing is proposed."""
    told = plain(said)
    firm = any(cues.assents.search(told) for cues in languages())
    every = [each.text for each in sentences(text)]
    if not every or not (firm or every[-1].endswith("?") or _proposes(every[-1])):
        return ()  # `ok` to a report is no decision
    if found := recommended(text):
        return found
    for at in reversed(range(len(every))):
        if _proposes(every[at]) and (found := tuple(_told(every, at))):
            return found
    return ()


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

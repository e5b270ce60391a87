"""What a secret looks like: the detectors of `detect-secrets`, and ours for what they miss.

Their guesses by entropy and by keyword are left out: in code they find hashes, paths and
placeholders. Nothing here asks a server whether a secret is valid.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from detect_secrets.filters.heuristic import (
    is_potential_uuid,
    is_prefixed_with_dollar_sign,
    is_sequential_string,
    is_templated_secret,
)
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

_NAMES = r"(?:api|access|auth|private)[_-]?key|secret|token|passw(?:or)?d|passphrase"
_ESCAPES = frozenset({"\\n", "\\r", "\\t"})
"""What may stand before a word in JSON."""
_REST_OF_WORD = re.compile(r"[\w-]*")


class Hit(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str


class _Shape(NamedTuple):
    """A pattern: the secret is a word that begins so, or what its first group holds."""

    kind: str
    pattern: re.Pattern[str]
    is_value: Callable[[str], bool] | None = None
    """Tells whether the first group's text is a secret."""


def _is_value(text: str) -> bool:
    """Whether what stands behind a telling name is no reference, example or plain word."""
    return (
        _is_password(text)
        and any(map(str.isdigit, text))
        and any(map(str.isalpha, text))
        and not is_sequential_string(text)
        and not is_potential_uuid(text)
    )


def _is_password(text: str) -> bool:
    return not (
        is_templated_secret(text)
        or is_prefixed_with_dollar_sign(text)
        or set(text) <= set("*.xX")  # as in ***
    )


def _theirs(
    detector: type[RegexBasedDetector], is_value: Callable[[str], bool] | None = None
) -> list[_Shape]:
    return [
        _Shape(str(detector.secret_type), pattern, is_value if pattern.groups else None)
        for pattern in detector().denylist
    ]


def _ours(kind: str, *patterns: str, is_value: Callable[[str], bool] | None = None) -> list[_Shape]:
    return [_Shape(kind, re.compile(pattern), is_value) for pattern in patterns]


_SHAPES = (
    *_ours(
        "Private Key",
        # The block, its line ends escaped or not; where its end is cut off, the lines that are key.
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]{0,20000}-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*)",
    ),
    *_ours(
        "API Key",
        r"sk-(?=[\w-]*\d)[\w-]*[A-Za-z0-9]{20}",  # OpenAI, and all who write theirs alike
        r"sk-ant-[a-z0-9]+-[\w-]{20,}",
        r"AIza[\w-]{35}",
        r"hf_[A-Za-z0-9]{30,}",
        r"npm_[A-Za-z0-9]{36}",
    ),
    *_theirs(AWSKeyDetector, _is_value),
    *_theirs(GitHubTokenDetector),
    *_ours("GitHub Token", r"github_pat_\w{30,}"),
    *_theirs(GitLabTokenDetector),
    *_theirs(SlackDetector),
    *_ours("Slack Token", r"(?:xox[a-z]|xapp)-(?=[\w-]*\d)[\w-]{20,}"),
    *_ours("Stripe Key", r"(?:(?:sk|rk)_(?:live|test)|whsec)_[A-Za-z0-9]{16,}"),
    *_ours("JSON Web Token", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]+)?"),
    *_theirs(PypiTokenDetector),
    *_theirs(SendGridDetector),
    *_theirs(AzureStorageKeyDetector),
    *_theirs(DiscordBotTokenDetector),
    *_theirs(TelegramBotTokenDetector),
    *_theirs(TwilioKeyDetector),
    *_theirs(SquareOAuthDetector),
    *_theirs(BasicAuthDetector, _is_password),
    *_ours("Authorization", r"[Bb](?:earer|asic)\s([\w.~+/-]{16,}=*)", is_value=_is_value),
    *_ours(
        "Secret",
        # The first letters let the search skip ahead, which ignoring case alone does not.
        rf"(?=[aAsStTpP])(?i:{_NAMES})\w*(?:\\?[\"'\]]){{0,2}}\s?(?::=|=>|=|:)\s?"
        r"\\?[\"'`]([^\s\"'`\\]{8,})\\?[\"'`]",
        # As in an environment file, a command or a URL, whose next parameter is not part of it.
        rf"(?:{_NAMES.upper()})[A-Z0-9_]*=\\?[\"']?"
        r"((?:[^\s\"'`\\;,&|<>(){}\[\]$]|&(?!&|\w+=)){6,})",
        is_value=_is_value,
    ),
)
"""What has two of these shapes goes by the name of the first."""


def hits(text: str) -> Iterator[Hit]:
    """The secrets in a text, in order, none over another."""
    end = 0
    for hit in sorted(_all(text), key=lambda hit: (hit.start, -hit.end)):
        if hit.start >= end:
            yield hit
            end = hit.end


def _all(text: str) -> Iterator[Hit]:
    for kind, pattern, is_value in _SHAPES:
        for match in pattern.finditer(text):
            if is_value is not None:
                if is_value(match[1]):
                    yield Hit(*match.span(1), kind)
            elif _begins_a_word(text, match.start()):
                # A key may be longer than its pattern knows.
                rest = _REST_OF_WORD.match(text, match.end())
                yield Hit(match.start(), rest.end() if rest else match.end(), kind)


def _begins_a_word(text: str, start: int) -> bool:
    before = text[max(0, start - 2) : start]
    return before in _ESCAPES or not (before[-1:].isalnum() or before.endswith("_"))

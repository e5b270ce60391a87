"""Secrets by the name before them: `password: ...`, `--api-key ...`."""

import re
from collections.abc import Iterator, Sequence

from pinfold.export.keys import SecretHit

_NAMES = ("passw", "passphrase", "pwd", "_pass", "-pass", "secret", "token", "key")
_PASSWORDS = _NAMES[:5]
_OF_A_KEY = re.compile(
    r"(?i:api|access|auth|private|secret|shared|preshared|signing|encryption|master|account|"
    r"license|consumer|service|client)[_-]?$"
)
"""Words before `key` that make it a secret."""
_QUOTES = "\"'`"
_BARE = rf"[^\s\\{_QUOTES},;|<>(){{}}\[\]&$]|&(?!&|\w{{1,40}}=)|\$(?![{{(])"
_VALUE = re.compile(
    rf"(?i:passw(?:or)?d|[_-]pass(?![pw])|passphrase|pwd|secret|token|key(?:[_-]?data)?)"
    rf"([\w-]{{0,40}}+)[\"'\]]{{0,6}}(?:\s{{1,4}}(?:value|is))?"
    rf"([^\S\n]{{0,20}})(:=|=>|[=:>])([^\S\n]{{0,20}})"
    rf"(?:[{_QUOTES}]{{1,6}}([^\s\\{_QUOTES}]++)|((?:{_BARE})++))"
)
_ARGUMENT = re.compile(
    rf"(?i:passw(?:or)?d|-pass|secret|token|key)[^\S\n]{{1,4}}[{_QUOTES}]{{0,2}}((?!-)(?:{_BARE}){{6,}}+)"
)
_FLAG = re.compile(r"(?<!\w)--?[\w-]{0,30}$")
_BEFORE = 32
_NO_VALUE = re.compile(
    r"(?i)(?:^|[_-])(?:s|id|ids|name|file|path|dir|url|uri|endpoint|type|kind|limit|count|num|"
    r"total|max|min|len|length|size|budget|usage|expir\w*|ttl|life\w*|age|time\w*|hash\w*|digest|"
    r"arn|ref|format|field|label|header|prefix|suffix|class|issuer|env|var|policy|rule|pattern|"
    r"regex|ize\w*)(?![a-z])"
)
"""How names that hold no secret continue: `token_type`, `secretName`."""
_PAGE = re.compile(r"(?i)(?:page|next|backward|forward|continuation|cursor|sync)[_-]?$")
_NUMBERED = re.compile(r"(?:[_-]?\d+)?")
_END_OF_LINE = re.compile(rf"[^\S\n]*(?:\s#.*)?(?:$|[{_QUOTES}])", re.MULTILINE)

_TEMPLATE = re.compile(r"[$%<{*].*|.*[>}]|(?i:your).*|[*.xX•…]*|.*(?i:example).*")
_PLACEHOLDERS = frozenset(
    [
        "password",
        "passwd",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "key",
        "apikey",
        "user",
        "username",
        "admin",
        "root",
        "test",
        "changeme",
        "x-oauth-basic",
        "oauth2",
    ]
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PLAIN = re.compile(r"(?:[A-Z]?[a-z]*|[A-Z]*)\d{0,4}")
_PARTS = re.compile(r"[-_./:@ ~]+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*")
_MIXED = re.compile(r"\d[a-z]")
_DIGITS = re.compile(r"\d+")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")


def named(text: str) -> Iterator[SecretHit]:
    """The secrets in a text that have a telling name."""
    begin = end = 0  # of the last value, which is read only once
    for at, name in _names(text):
        if begin <= at < end:
            continue
        before = text[max(0, at - _BEFORE) : at]
        if (name == "key" and not _OF_A_KEY.search(before)) or _PAGE.search(before):
            continue
        if match := _VALUE.match(text, at):
            begin, end = match.span(5 if match[5] else 6)
            if _is_named(text, match, password=name in _PASSWORDS):
                yield SecretHit(begin, end, "Secret")
            continue
        match = _ARGUMENT.match(text, at) if _FLAG.search(before) else None
        if match and _is_secret(match[1], password=name in _PASSWORDS):
            yield SecretHit(*match.span(1), "Secret")


def _names(text: str) -> list[tuple[int, str]]:
    lowered = text.lower()
    if len(lowered) != len(text):  # as with İ
        lowered = "".join(one.lower() if one.isascii() else one for one in text)
    found = []
    for name in _NAMES:
        at = lowered.find(name)
        while at >= 0:
            found.append((at, name))
            at = lowered.find(name, at + len(name))
    return sorted(found)


def _is_named(text: str, match: re.Match[str], *, password: bool) -> bool:
    tail, before, sign, after, quoted, bare = match.groups()
    if _NO_VALUE.search(tail):
        return False
    value, behind = quoted or bare, text[match.end() : match.end() + 1]
    tight = sign == "=" and not before and not after
    if sign == ">":
        whole = text.startswith("</", match.end())
    elif quoted:
        whole = behind != "" and behind in _QUOTES
    elif tight:
        whole = behind == "" or behind not in "([{$"
    else:
        # In YAML the line ends after a value; in code more follows.
        whole = bool(_NUMBERED.fullmatch(tail) and _END_OF_LINE.match(text, match.end()))
    if not whole or len(value) < (6 if password or tight else 8):
        return False
    return _is_secret(value, password=password)


def _is_secret(value: str, *, password: bool) -> bool:
    return is_password(value) and _has_both(value) if password else is_value(value)


def is_value(text: str) -> bool:
    """Whether it can be a key or a token, not a reference, a name or a word."""
    return (
        _has_both(text)
        and not _TEMPLATE.fullmatch(text)
        and not _PLAIN.fullmatch(text)
        and not _is_path(text)
        and not _is_name(text)
        and not _UUID.search(text)
    )


def is_password(text: str) -> bool:
    """Whether it can be a password, not a reference or a name of several words."""
    return not (
        _TEMPLATE.fullmatch(text)
        or _is_path(text)
        or text.rstrip("0123456789").lower() in _PLACEHOLDERS
        or _UUID.search(text)
    )


def _has_both(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _is_path(text: str) -> bool:
    """Whether it is words with signs between: `client-index-v17`, `/run/key/2`."""
    parts = [part for part in _PARTS.split(text) if part]
    return len(parts) > 1 and _are_words(parts, [word for part in parts for word in _words(part)])


def _is_name(text: str) -> bool:
    """Whether it is words without signs between: `SecretStore2`."""
    words = _words(text)
    return (
        _are_words([text], words)
        and len(_DIGITS.findall(text)) <= 2
        and all(map(_VOWEL.search, words))
        and sum(map(len, words)) >= 4 * len(words)
    )


def _words(part: str) -> list[str]:
    """The words in letters and digits. No word continues after a digit, as random letters do."""
    if _MIXED.search(part):
        return []
    pieces = (piece.rstrip("0123456789") for piece in _PIECE.findall(part))
    return [piece for piece in pieces if len(piece) >= 3]


def _are_words(parts: Sequence[str], words: Sequence[str]) -> bool:
    letters = sum(map(str.isalpha, "".join(parts)))
    return len(words) >= 2 and sum(map(len, words)) >= 0.75 * letters

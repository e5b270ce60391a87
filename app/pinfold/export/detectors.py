"""Finds secrets by how they begin, by the name before them, or by their form.

Not by entropy alone: in code that finds hashes, paths and placeholders. No server is asked whether
a secret is valid.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pinfold.export.keys import SecretHit, keys
from pinfold.export.named import is_password, is_value, named

_ESCAPED = re.compile(r"(?<!\\)\\++(?:u00([2-7][0-9a-fA-F])|([\"'/nrt]))")
_LONGEST_ESCAPE = 12
_STANDS_FOR = {"n": "\n", "r": "\r", "t": "\t"}
_WORD = r"[^\s\"'`\\]"


def _is_pair(text: str) -> bool:
    try:
        user, _, password = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return user.isprintable() and len(password) > 2 and password.isprintable()


def _is_authorization(text: str) -> bool:
    return _is_pair(text) or (len(text) >= 16 and is_value(text))


def _is_given(text: str) -> bool:
    return not text.startswith("$")


class _Form(NamedTuple):
    """A pattern whose first group is a secret, if `is_secret` says so."""

    kind: str
    part: str
    """A text in every match, quicker to search for."""
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]


_FORMS = (
    _Form(
        "Basic Auth Credentials",
        "://",
        re.compile(r":/{2,8}[^\s/?#@:\"'`<>\\]{0,256}+:([^\s\"'`<>/\\]{1,256})@(?=[\w\[.-])"),
        is_password,
    ),
    _Form(
        "Authorization",
        "uthorization",
        re.compile(
            r"[Aa]uthorization[\"'\]]{0,6}\s{0,4}[:=,]\s{0,4}[\"'`]{0,6}(?:[\w-]{1,20}\s{1,3})?"
            rf"({_WORD}{{8,}}+)"
        ),
        _is_authorization,
    ),
    _Form("Authorization", "earer ", re.compile(r"\b[Bb]earer ([\w.~+/-]{16,}+=*)"), is_value),
    _Form(
        "Login",
        "auth",
        re.compile(r"\b_?auth[\"']{0,6}\s{0,4}[:=]\s{0,4}[\"']{0,6}([\w+/-]{8,}+={0,2})"),
        _is_pair,
    ),
    _Form(
        "Login",
        "machine",
        re.compile(
            r"\bmachine\s{1,20}\S{1,200}\s{1,20}login\s{1,20}\S{1,200}\s{1,20}"
            r"password\s{1,20}(\S{1,200})"
        ),
        is_password,
    ),
    _Form(
        "Package Token",
        ":_",
        re.compile(rf":_(?:authToken|password)=({_WORD}{{8,}}+)"),
        _is_given,
    ),
    _Form(
        "Signature",
        "sig",
        re.compile(r"(?:[?&;]|%26)sig(?:nature)?=([\w%+/-]{20,}+=*)"),
        is_value,
    ),
    _Form(
        "Signature",
        "X-",
        re.compile(r"X-(?:Amz|Goog)-(?:Signature|Security-Token)=([\w%+/-]{20,}+)"),
        is_value,
    ),
    _Form(
        "API Key",
        "HEROKU",
        re.compile(
            r"HEROKU\w{0,30}[\"']{0,6}\s{0,4}[:=]\s{0,4}[\"']{0,6}"
            r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
        ),
        _is_given,
    ),
    _Form(
        "Private Key",
        "LS0tLS1CRUdJTi",
        re.compile(
            r"(LS0tLS1CRUdJTi(?:BQUklW|BSU0Eg|BFQyBQ|BPUEVO|BFTkNS|BEU0Eg)[\w+/]{40,}+={0,2})"
        ),
        _is_given,
    ),
)

_PROGRAM = re.compile(
    r"\b(?:(mysql|mariadb)\w*|(curl)|(sshpass|(?:docker|podman|helm registry) login|mongo\w*)"
    r"|(redis-cli))\b[^\n]*"
)
_PROGRAMS = (
    *("mysql", "mariadb", "curl", "sshpass", "docker", "podman", "helm", "mongo", "redis-cli"),
)
"""Texts in every match, quicker to search for."""
_VALUE = rf"[\"']{{0,6}}((?!-){_WORD}{{3,}}+)"
_ARGUMENTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\s-p{_VALUE}",
        rf"\s(?:-\w{{0,5}}[uU]|--(?:proxy-)?user)[\s=]{{0,3}}[\"']{{0,6}}[^\s:\"'`$]{{0,256}}:{_VALUE}",
        rf"\s-p[\s=]{{0,3}}{_VALUE}",
        rf"\s-a\s{{1,3}}{_VALUE}",
    )
)
"""How the programs of each group take a password."""

_COOKIE = re.compile(r"[Cc]ookies?[\"']{0,6}(?:\s{0,4}[:=]|\s)\s{0,4}[\"']{0,6}([^\n\"']{8,}+)")
_PAIR = re.compile(r"([\w.%-]{1,80}+)=([^\s\"';,&]{8,}+)")
_SIGNED_IN = re.compile(r"(?i)sess|sid|auth|token|login|csrf")

_KIND_OF_KEY = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_HEAD = re.compile(rf"-----BEGIN {_KIND_OF_KEY}")
_TAIL = re.compile(rf"-----END {_KIND_OF_KEY}")
_EDGE = re.compile(rf"-----(BEGIN|END) {_KIND_OF_KEY}")
_LONGEST_KEY = 20_000
"""Characters between head and tail."""
_BETWEEN = r"[^\w+/=]{1,20}+(?:\d{1,6}[^\w+/=]{1,20}+)?"
"""Between two lines of a key: tools that read files number lines."""
_LINES = re.compile(
    rf"(?:{_BETWEEN}[A-Za-z0-9+/]{{16,}}+={{0,2}})*(?:{_BETWEEN}[\w+/]{{1,15}}==?)?"
)
_LINE = re.compile(r"(?:[^\w\n+/=]*\d{0,6}[^\w\n+/=]+)?([A-Za-z0-9+/]{4,}={0,2})\s*")
_LINE_END = re.compile(r"(?<![\w+/=])([A-Za-z0-9+/]{40,}+)\s*\Z")
"""The first line of a key that was cut off, after other text."""
_BODY = re.compile(
    r"(?<![\w+/])(?:MII[A-Za-z][\w+/][AQgw]IBA(?:AKC|DAN)|MHcCAQEEI|MIGHAgEAMBMG|MIGkAgEB|"
    r"MC4CAQAwBQYDK2Vw|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{16,}+={0,2}"
)
"""How private keys begin in Base64: RSA, PKCS #8, elliptic curves, OpenSSH."""
_BEGINNINGS = ("MII", "MHcCAQEEI", "MIGHAgEA", "MIGkAgEB", "MC4CAQAw", "b3BlbnNzaC1rZXktdjE")
"""One of these is in each match."""


def hits(text: str) -> Iterator[SecretHit]:
    """The secrets in a text, in order, without overlap; of two forms the first counts."""
    shown = _unescaped(text)
    found = [*_private_keys(shown), *keys(shown), *_forms(shown), *_arguments(shown)]
    found += [*_cookies(shown), *named(shown)]
    end = 0
    for hit in sorted(found, key=lambda hit: (hit.start, -hit.end)):
        if hit.start >= end:
            yield hit if shown is text else _between_escapes(text, hit)
            end = hit.end


def _between_escapes(text: str, hit: SecretHit) -> SecretHit:
    """The hit without partial escapes at its ends."""
    start, end = hit.start, hit.end
    for match in _ESCAPED.finditer(text, max(0, start - _LONGEST_ESCAPE), end):
        if match.start() < start < match.end():
            start = match.end()
    for match in _ESCAPED.finditer(text, max(start, end - _LONGEST_ESCAPE), end + _LONGEST_ESCAPE):
        if match.start() < end < match.end():
            end = match.start()
    return SecretHit(start, end, hit.kind)


def _unescaped(text: str) -> str:
    """The text with JSON escapes decoded, each repeated to its length, so that places stay the
    same."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(_meant, text)


def _meant(match: re.Match[str]) -> str:
    code, letter = match.groups()
    meant = chr(int(code, 16)) if code else _STANDS_FOR.get(letter, letter)
    return meant * len(match.group())


def _forms(text: str) -> Iterator[SecretHit]:
    for form in _FORMS:
        if form.part in text:
            for match in form.pattern.finditer(text):
                if form.is_secret(match[1]):
                    yield SecretHit(*match.span(1), form.kind)


def _arguments(text: str) -> Iterator[SecretHit]:
    if not any(name in text for name in _PROGRAMS):
        return
    for line in _PROGRAM.finditer(text):
        assert line.lastindex is not None
        for match in _ARGUMENTS[line.lastindex - 1].finditer(text, *line.span()):
            if is_password(match[1]):
                yield SecretHit(*match.span(1), "Password")


def _cookies(text: str) -> Iterator[SecretHit]:
    if "ookie" not in text:
        return
    for line in _COOKIE.finditer(text):
        for match in _PAIR.finditer(text, *line.span(1)):
            name, value = match.groups()
            if is_value(value) and (len(value) >= 16 or _SIGNED_IN.search(name)):
                yield SecretHit(*match.span(2), "Cookie")


def _private_keys(text: str) -> Iterator[SecretHit]:
    """Private keys, also those cut off at either end."""
    done = 0
    for head in _HEAD.finditer(text):
        edge = _EDGE.search(text, head.end(), head.end() + _LONGEST_KEY)
        if edge is None or edge[1] == "BEGIN":
            edge = _LINES.match(text, head.end())
            assert edge is not None
        yield SecretHit(head.start(), edge.end(), "Private Key")
    for tail in _TAIL.finditer(text):
        yield SecretHit(_begin(text, tail.start(), done), tail.end(), "Private Key")
        done = tail.end()
    done = 0
    begins = any(beginning in text for beginning in _BEGINNINGS)
    for body in _BODY.finditer(text) if begins else ():
        if body.start() >= done:
            lines = _LINES.match(text, body.end())
            assert lines is not None
            done = lines.end()
            yield SecretHit(body.start(), done, "Private Key")


def _begin(text: str, end: int, least: int) -> int:
    """Where the lines of a key before `end` begin."""
    begin, at = end, end
    while at > least:
        line_begin = max(text.rfind("\n", least, at - 1) + 1, least)
        line = text[line_begin:at]
        if line.strip():
            match = _LINE.fullmatch(line) or _LINE_END.search(line)
            if match is None:
                break
            begin = line_begin + match.start(1)
            if match.re is _LINE_END:
                break
        at = line_begin
    return begin

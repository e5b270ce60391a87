"""A corpus of made-up secrets, all of which are found, and one of texts in which there is none."""

import json

import pytest

from fakes.innocent import innocent
from fakes.secrets import planted
from pinfold.export.redact import Secrets, redacted_lines


def clean(text: str) -> str:
    return Secrets([text]).replaced(text)


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert len({secret.name for secret in planted(0)}) == len(planted(0)) > 170
    assert len(set(innocent())) > 570


@pytest.mark.parametrize("seed", range(8))
def test_a_secret_is_replaced_and_nothing_else_and_json_stays_json(seed: int) -> None:
    for secret in planted(seed):
        before, value, after = secret.text.partition(secret.secret)
        text = clean(secret.text)
        assert text.startswith(f"{before}[secret: "), secret
        assert text.endswith(f"]{after}"), secret
        assert len(text) < len(before) + len(after) + 50, secret
        (line,), count = redacted_lines([json.dumps({"content": secret.text}).encode()])
        assert count >= 1, secret
        assert value not in json.loads(line)["content"], secret


def test_what_only_looks_like_a_secret_stays() -> None:
    for text in innocent():
        assert clean(text) == text
        line = json.dumps({"content": text}).encode()
        assert redacted_lines([line]) == ([line], 0)


REPEATED = [
    *"A1-_.:/\"' \n",
    *("sk-", "eyJ", "-eyJ", "eyJ.", "xoxb-1-", "1//0", "abc8Q~", "a.b/c:1="),
    *("token=", 'token="', '"token": "', "secret_key_", "password ", "--token ", "key=&", "&a="),
    *("curl -u a:", "mysql -p ", "redis-cli -a ", "machine a login b password ", "://a:", "a@"),
    *("cookie: a=", "Bearer ", "Authorization: ", 'auth="', "?sig=", "\\n", '\\\\"', "İtoken="),
    *(f"-----{edge} PRIVATE KEY-----" for edge in ("BEGIN", "END")),
    *(f"MIIEpAIBAAKCAQEA{end}" for end in ("", "b" * 20 + "\n")),
    "a" * 64 + "\n",
]


def test_what_every_pattern_begins_with_again_and_again_ends() -> None:
    """It would take minutes if any was read to its end from each place where it may begin."""
    for unit in REPEATED:
        list(Secrets([unit * (25_000 // len(unit))]).replaced(unit))
    for letter in "a=\\":
        assert not Secrets([letter * 2_000_000])


def test_no_replacement_cuts_an_escape_in_two() -> None:
    secret = "hunter" + "2x9Qz7"
    for text in (
        rf'{{"a": "token\u003d{secret}\u0026b=1"}}',
        rf'{{"a": "password: \"{secret}\"\nnext"}}',
        rf'{{"a": "{{\"password\": \"{secret}\"}}"}}',
        rf'{{"a": "https:\/\/u:{secret}@h\/x"}}',
    ):
        cleaned = clean(text)
        assert secret not in cleaned
        json.loads(cleaned)

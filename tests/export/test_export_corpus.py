"""A corpus of made-up secrets, all of which are found, and one of texts in which there is none."""

import json

import pytest

from fakes.innocent import innocent
from fakes.secrets import Planted, planted
from pinfold.export.redact import Secrets, redacted_lines

SEEDS = range(8)


def clean(text: str) -> str:
    return Secrets([text]).replaced(text)


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert len({secret.name for secret in planted(0)}) == len(planted(0)) > 170
    assert len(set(innocent())) > 570


@pytest.mark.parametrize("name", [value.name for value in planted(0)])
def test_a_secret_is_replaced_and_nothing_else(name: str) -> None:
    for planted_text in _of(name):
        before, secret, after = planted_text.text.partition(planted_text.secret)
        text = clean(planted_text.text)
        assert text.startswith(f"{before}[secret: "), secret
        assert text.endswith(f"]{after}"), secret
        assert len(text) < len(before) + len(after) + 50, secret


@pytest.mark.parametrize("name", [value.name for value in planted(0)])
def test_the_same_in_a_line_of_json_which_stays_one(name: str) -> None:
    for secret in _of(name):
        line = json.dumps({"content": secret.text}).encode()
        (cleaned,), count = redacted_lines([line])
        assert count >= 1
        assert secret.secret not in json.loads(cleaned)["content"]


def _of(name: str) -> list[Planted]:
    return [secret for seed in SEEDS for secret in planted(seed) if secret.name == name]


@pytest.mark.parametrize("part", range(10))
def test_what_only_looks_like_a_secret_stays(part: int) -> None:
    for text in innocent()[part::10]:
        assert clean(text) == text
        line = json.dumps({"content": text}).encode()
        assert redacted_lines([line]) == ([line], 0)


@pytest.mark.parametrize("letter", ["a", "=", "\\"])
def test_ten_million_of_one_letter_are_read_in_one_go(letter: str) -> None:
    assert not Secrets([letter * 10_000_000])


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


@pytest.mark.parametrize("unit", REPEATED)
def test_what_every_pattern_begins_with_again_and_again_ends(unit: str) -> None:
    """It would take minutes if any was read to its end from each place where it may begin."""
    list(Secrets([unit * (200_000 // len(unit))]).replaced(unit))


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

"""Secrets are found by their shape, and what only looks like one stays.

All of them are made up, and put together here so that no scanner takes them for real.
"""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle, islice

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.exports import transcript
from fakes.recorded import recorded
from pinfold.adopt.detect import read
from pinfold.commands.export import Wish, document
from pinfold.export.formats import FORMATS, Format, Scope
from pinfold.export.redact import Secrets, redacted, redacted_lines
from pinfold.rollout.events import ItemAdded, ItemsMarked
from pinfold.rollout.items import Item
from pinfold.window.window import Boundary

AT = datetime(2026, 3, 1, tzinfo=UTC)
HEX = "".join(islice(cycle("8f3a1c9e0b7d2546"), 64))
MIXED = "".join(islice(cycle("aB3dE5fG7hJ9kLmN1pQ2"), 120))
UPPER = "".join(islice(cycle("Q7WX2MZK4RTY"), 40))
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + (MIXED[:64] + "\n") * 3
PEM_END = "-----END RSA " + "PRIVATE KEY-----"
JWT = ".".join(("eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0", MIXED[:43]))

SECRETS = {
    "OpenAI": "sk-" + MIXED[:20] + "T3Blbk" + "FJ" + MIXED[:20],
    "OpenAI project": "sk-proj-" + MIXED[:74] + "T3Blbk" + "FJ" + MIXED[:74],
    "Anthropic": "sk-ant-" + "api03-" + MIXED[:93] + "-AA",
    "OpenRouter": "sk-or-v1-" + HEX,
    "Google": "AI" + "za" + MIXED[:35],
    "Hugging Face": "hf" + "_" + MIXED[:34],
    "npm": "npm" + "_" + MIXED[:36],
    "GitHub": "gh" + "p_" + MIXED[:36],
    "GitHub fine-grained": "github" + "_pat_" + MIXED[:82],
    "GitLab": "gl" + "pat-" + MIXED[:20],
    "AWS": "AK" + "IA" + UPPER[:16],
    "Slack bot": "xo" + "xb-123456789012-1234567890123-" + MIXED[:24],
    "Slack hook": "https://hooks.slack" + ".com/services/T0ABCDEFG/B0ABCDEFG/" + MIXED[:24],
    "Stripe": "sk" + "_live_" + MIXED[:24],
    "Stripe, longer": "rk" + "_live_" + MIXED[:99],
    "Stripe test": "sk" + "_test_" + MIXED[:24],
    "SendGrid": "SG" + "." + MIXED[:22] + "." + MIXED[:43],
    "PyPI": "pypi-" + "AgEIcHlwaS5vcmc" + MIXED[:80],
    "JWT": JWT,
    "PEM": PEM + PEM_END,
    "PEM, cut off": PEM.rstrip(),
}
NAMED = {
    "postgres://app:{}@db.internal:5432/shop": "hunter" + "2x",
    "DATABASE_PASSWORD={}": "Tr0ub4dor" + "&3",
    "export STRIPE_WEBHOOK_SECRET='{}'": MIXED[:28],
    "MY_API_KEY={}": HEX[:32],
    "aws_secret_access_key = '{}'": MIXED[:40],
    '{{"api_key": "{}"}}': HEX[:24],
    "Authorization: Bearer {}": MIXED[:40],
    'client_secret: "{}"': "GOCSPX-" + MIXED[:28],
}
INNOCENT = [
    HEX[:40],
    f"commit {HEX[:40]}\nindex 8f3a1c9..0b7d254 100644",
    "0197f3a2-7c10-7d2e-9b1e-0123456789ab",
    "call_" + MIXED[:24],
    "toolu_" + MIXED[:24],
    "chatcmpl-" + MIXED[:29],
    "resp_" + HEX[:48],
    "data:image/png;base64," + MIXED * 20,
    "sha512-" + MIXED[:86] + "==",
    "/home/ada/task-runner/node_modules/.pnpm/sk-learn-wrapper@1.0.0/index.js",
    "OPENAI_API_KEY=sk-...",
    "OPENAI_API_KEY=$OPENAI_API_KEY",
    'apiKey: "${OPENAI_API_KEY}"',
    'password = os.environ["DB_PASSWORD"]',
    "token = secrets.token_urlsafe(32)",
    'max_tokens: "128000 or so"',
    "https://user:${PASSWORD}@example.com",
    "http://localhost:8080/a@b",
    "risk-" + MIXED[:24],
    "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
    "def secret_santa(token: str) -> str: ...",
    "TOKEN_LIMIT=128000",
    "Bearer tokens are sent in the authorization header",
]


def clean(text: str) -> str:
    return Secrets([text]).replaced(text)


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_of_the_usual_kinds_are_replaced_whole(name: str) -> None:
    for around in ("{}", "see {}.", '"{}"', "KEY={}\n", "a\n{}\nb", "({})"):
        text = around.format(SECRETS[name])
        replaced = re.escape(around).replace(r"\{\}", r"\[secret: [\w ]+ 1\]")
        assert re.fullmatch(replaced, clean(text))
        said = json.loads(clean(json.dumps({"content": text})))["content"]
        assert re.fullmatch(replaced, said)


@pytest.mark.parametrize("around", NAMED)
def test_values_of_telling_names_are_replaced(around: str) -> None:
    text = clean(around.format(NAMED[around]))
    assert NAMED[around] not in text
    assert re.search(r"\[secret: [\w ]+ 1\]", text)
    assert text.startswith(around.partition("{}")[0].replace("{{", "{"))


def test_look_alikes_stay() -> None:
    assert [clean(text) for text in INNOCENT] == INNOCENT


def test_one_secret_has_one_name_wherever_it_stands() -> None:
    password = NAMED["DATABASE_PASSWORD={}"]
    texts = [f"mysql -p {password}", f"DATABASE_PASSWORD={password}\nA_TOKEN={HEX[:20]}"]
    secrets = Secrets(texts)
    assert [secrets.replaced(text) for text in texts] == [
        "mysql -p [secret: Secret 1]",
        "DATABASE_PASSWORD=[secret: Secret 1]\nA_TOKEN=[secret: Secret 2]",
    ]
    assert len(secrets) == 2


def test_a_word_that_is_a_password_somewhere_stays_a_word_elsewhere() -> None:
    texts = ["redis://x:letmein@cache", "please letmein"]
    secrets = Secrets(texts)
    assert secrets.replaced(texts[1]) == texts[1]
    assert "letmein" not in secrets.replaced(texts[0])


def test_all_of_a_transcript_is_cleaned() -> None:
    key = SECRETS["GitHub"]
    diff = {"diff": f"+TOKEN = {key}", "ok": True, "tried": [{"with": key}]}
    opaque = {"summary": [key], "encrypted_content": "sealed"}
    items = [
        Item(n=1, kind="user", content=f"use {key}"),
        Item(n=2, kind="tool_result", content=key, detail=diff),
        Item(n=3, kind="compaction", opaque=opaque, call_id=key),
    ]
    shown, count = redacted(transcript([ItemAdded(item=item) for item in items]))
    assert count == 1
    assert key not in repr(shown)
    assert shown.title == "use [secret: GitHub Token 1]"
    assert shown.entries[1].item.detail["ok"] is True
    assert (shown.entries[2].item.opaque or {})["encrypted_content"] == "sealed"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("before", [40, 70, 95])
def test_no_part_of_a_secret_is_left_where_its_text_was_cut(name: Format, before: int) -> None:
    key = SECRETS["OpenAI project"]
    told = f"{'word ' * (before // 5)}{key} is mine"
    command = json.dumps({"command": f"curl -H {key} x"})
    call = Item(n=2, kind="tool_call", name="shell", content=command, call_id="c", response=1)
    title = {"title": f"$ curl -H {key}"[:40] + "…"}
    result = Item(
        n=3, kind="tool_result", name="shell", content="ok", call_id="c", response=1, detail=title
    )
    session = transcript(
        [
            ItemAdded(item=Item(n=1, kind="user", content=told)),
            ItemAdded(item=call),
            ItemAdded(item=result),
            ItemsMarked(items=((1, "placeholder"), (2, "placeholder"), (3, "placeholder"))),
        ]
    )
    session = replace(
        session,
        cwd=f"/work/{key}",
        session=key,
        model=msgspec.structs.replace(session.model, name=key),
        boundaries=(Boundary(1, 3, AT, "manual", key, None),),
    )
    lines = [json.dumps(exported, ensure_ascii=False).encode() for exported in (told, title)]
    scopes: tuple[Scope, ...] = ("all",) if name == "jsonl" else ("all", "window")
    for scope in scopes:
        made = document(Wish(name, scope=scope), session, lines)
        shown = f"{made.name}\n{made.content.decode()}".lower()
        parts = {key[at : at + 8].lower() for at in range(len(key) - 7)} - {"sk-proj-"}
        assert not [part for part in parts if part in shown]


def test_what_servers_answer_is_redacted() -> None:
    key, ids = SECRETS["GitHub"], {"call_id": "c1", "name": "mcp__git__log", "response": 1}
    answer = Item(
        n=2,
        kind="tool_result",
        content=f'a token {key}\n{{"structured": "{key}"}}',
        detail={"ok": True, "server": "git", "said": [key]},
        **ids,
    )
    call = Item(n=1, kind="tool_call", content=json.dumps({"arguments": {"token": key}}), **ids)
    clean, found = redacted(transcript([ItemAdded(item=call), ItemAdded(item=answer)]))
    assert found == 1
    assert key not in repr(clean)
    assert "mcp__git__log" in repr(clean)


def test_a_word_that_begins_as_a_secret_does_is_none() -> None:
    texts = [SECRETS["OpenAI project"], f"sk-proj-{MIXED[:9]}xyz", "sk-proj- keys"]
    assert [Secrets(texts).replaced(text) for text in texts[1:]] == texts[1:]


def test_raw_lines_stay_lines_with_bytes_that_are_no_text() -> None:
    lines = [json.dumps({"a": f"x\n{SECRETS['PEM']}"}).encode(), b'{"torn": "\xff']
    clean_lines, count = redacted_lines(lines)
    assert count == 1
    assert json.loads(clean_lines[0]) == {"a": "x\n[secret: Private Key 1]"}
    assert clean_lines[1] == lines[1]


@given(st.text())
def test_text_without_secrets_is_left_as_it_is(text: str) -> None:
    secrets = Secrets([text])
    if not secrets:
        assert secrets.replaced(text) == text


@pytest.mark.parametrize("path", recorded("codex")[:2] + recorded("claude")[:2])
def test_nothing_is_found_in_recordings_that_hold_none(path) -> None:
    events = [event.data for event in read(path).events]
    texts = [event.item.content for event in events if isinstance(event, ItemAdded)]
    assert len(Secrets(texts)) == 0

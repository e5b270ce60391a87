"""Signing in to a server over HTTP."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail

from fakes.mcp import servers, started
from fakes.oauth_server import OAuthServer, oauth_server
from pinfold.mcp.definition import Definition
from pinfold.mcp.servers import McpServers
from pinfold.ports.tool import ToolError


class Ring(KeyringBackend):
    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.held[service, username]


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def fake() -> Iterator[OAuthServer]:
    with oauth_server() as made:
        yield made


def reached(folder: Path, fake: OAuthServer) -> McpServers:
    return servers(folder, Definition("fake", url=fake.url, startup_timeout=60))


def kept(folder: Path) -> Path:
    (file,) = (folder / "state" / "signed-in").iterdir()
    return file


async def test_the_user_signs_in_once_and_later_sessions_are(
    tmp_path: Path, fake: OAuthServer
) -> None:
    given = reached(tmp_path, fake)
    state = await started(given)
    assert (state.state, state.sign_in) == ("failed", True)
    assert state.why == "It wants you to sign in: pinfold mcp login fake."
    assert fake.asked == ["/mcp"] * len(fake.asked)  # nothing but the server was asked
    where = await given.sign_in("fake", fake.browser)
    assert where.startswith("in ")
    assert where.endswith("which only you can read, as there is no keyring")
    assert kept(tmp_path).stat().st_mode & 0o777 == 0o600
    assert (await started(given)).state == "ready"
    assert (await given.call("fake", "say", {}, print)).output == "hi"
    await given.aclose()
    asked = len(fake.asked)
    again = reached(tmp_path, fake)
    assert (await started(again)).state == "ready"
    assert {*fake.asked[asked:]} == {"/mcp"}
    await again.aclose()


@pytest.mark.parametrize("how", ["expired", "revoked", "over"])
async def test_tokens_are_renewed(tmp_path: Path, fake: OAuthServer, how: str) -> None:
    given = reached(tmp_path, fake)
    await given.sign_in("fake", fake.browser)
    await given.aclose()
    if how == "expired":
        grant = json.loads(kept(tmp_path).read_bytes())
        kept(tmp_path).write_text(json.dumps({**grant, "expires_at": time.time() - 1}))
    else:
        fake.valid = "another"
    if how == "over":
        fake.refresh = "another"
    before = fake.asked.count("/oauth/token")
    again = reached(tmp_path, fake)
    state = await started(again)
    await again.aclose()
    assert fake.asked.count("/oauth/token") > before
    assert (state.state, state.sign_in) == (("failed", True) if how == "over" else ("ready", False))
    if how != "over":
        assert fake.valid in kept(tmp_path).read_text()


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        ({"state": "wrong"}, "The browser came back from another attempt to sign in: try again."),
        (
            {"error": "access_denied", "error_description": "Not\x1b[2J you."},
            "Signing in was refused: Not␛[2J you.",
        ),
        ({"code": "guessed"}, "Signing in failed: Token exchange failed (400)"),
    ],
)
async def test_what_goes_wrong_is_one_sentence_and_keeps_nothing(
    tmp_path: Path, fake: OAuthServer, instead: dict[str, str], said: str
) -> None:
    given = reached(tmp_path, fake)
    with pytest.raises(ToolError) as failed:
        await given.sign_in("fake", lambda address: fake.browser(address, **instead))
    assert str(failed.value).startswith(said)
    assert not (tmp_path / "state" / "signed-in").exists()
    await given.aclose()


async def test_only_safe_addresses_are_opened(tmp_path: Path, fake: OAuthServer) -> None:
    fake.elsewhere = "http://evil.example/authorize"
    given = reached(tmp_path, fake)
    opened: list[str] = []
    with pytest.raises(ToolError, match="the address to sign in is not https"):
        await given.sign_in("fake", opened.append)
    assert opened == []
    await given.aclose()


async def test_the_keyring_holds_the_tokens_where_there_is_one(
    tmp_path: Path, fake: OAuthServer
) -> None:
    ring = Ring()
    keyring.set_keyring(ring)
    given = reached(tmp_path, fake)
    assert await given.sign_in("fake", fake.browser) == "in the system's keyring"
    assert (await started(given)).state == "ready"
    await given.aclose()
    assert fake.valid in "".join(ring.held.values())
    assert kept(tmp_path).read_text() == '"keyring"'


async def test_nobody_signs_in_where_that_is_not_asked_for(
    tmp_path: Path, fake: OAuthServer
) -> None:
    fake.valid = "open"
    definition = Definition("fake", url=fake.url, headers={"Authorization": "Bearer open"})
    given = servers(tmp_path, definition)
    with pytest.raises(ToolError, match="its configuration has a token"):
        await given.sign_in("fake", print)
    await given.aclose()

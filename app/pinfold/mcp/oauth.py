"""Signing in to a server over HTTP with OAuth: the user's act, never a session's by itself.

Imported in a thread: it brings the SDK.
"""

import asyncio
import ipaddress
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from pinfold.mcp.connection import short
from pinfold.mcp.grants import Grant, GrantFile
from pinfold.mcp.redirect import Redirect
from pinfold.ports.tool import ToolError

WAITING = 300.0
"""Seconds that the user has in the browser."""
_QUESTION = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}
_UNUSED = "http://127.0.0.1/callback"


class GrantStorage:
    """The SDK's `TokenStorage`, over a grant's file."""

    def __init__(self, file: GrantFile) -> None:
        self._file = file
        self._client: OAuthClientInformationFull | None = None
        self.provider: OAuthClientProvider | None = None
        self.where = ""
        """Where tokens were written, for people."""

    async def get_tokens(self) -> OAuthToken | None:
        return None  # `Signing` reads all of a grant at once

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info

    async def set_tokens(self, tokens: OAuthToken) -> None:
        assert self.provider is not None
        context = self.provider.context
        grant = Grant(
            _as_json(tokens) or {},
            _as_json(context.client_info or self._client) or {},
            _as_json(context.oauth_metadata),
            _as_json(context.protected_resource_metadata),
            None if tokens.expires_in is None else time.time() + tokens.expires_in,
        )
        self.where = await asyncio.to_thread(self._file.write, grant)


class Signing(OAuthClientProvider):
    """Signs requests with the stored tokens and renews them. It never asks the user."""

    def __init__(self, url: str, file: GrantFile) -> None:
        kept = GrantStorage(file)
        super().__init__(url, _client_metadata(_UNUSED), kept)
        kept.provider = self
        self._file = file

    async def _auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        context = self.context
        async with context.lock:
            if context.current_tokens is None:
                await self._load()
            if not context.is_token_valid():
                await self._load()  # another session may have renewed them
            if not context.is_token_valid() and context.can_refresh_token():
                await self._handle_refresh_response((yield await self._refresh_token()))
        used = self._token
        self._add_auth_header(request)
        response = yield request
        if response.status_code != 401 or not used:
            return
        async with context.lock:
            if self._token == used:
                await self._load()
            if self._token == used and context.can_refresh_token():
                await self._handle_refresh_response((yield await self._refresh_token()))
        if self._token and self._token != used:
            self._add_auth_header(request)
            yield request

    @property
    def _token(self) -> str:
        tokens = self.context.current_tokens
        return tokens.access_token if tokens else ""

    async def _load(self) -> None:
        grant = await asyncio.to_thread(self._file.read)
        if grant is None:
            return
        context = self.context
        try:
            context.current_tokens = OAuthToken.model_validate(grant.tokens)
            context.client_info = OAuthClientInformationFull.model_validate(grant.client)
            context.oauth_metadata = (
                OAuthMetadata.model_validate(grant.metadata) if grant.metadata else None
            )
            context.protected_resource_metadata = (
                ProtectedResourceMetadata.model_validate(grant.resource) if grant.resource else None
            )
        except ValidationError:
            context.current_tokens = None
            return
        context.token_expiry_time = grant.expires_at


async def login(
    url: str,
    headers: Mapping[str, str],
    file: GrantFile,
    show: Callable[[str], None],
    http: httpx2.AsyncBaseTransport | None = None,
) -> str:
    """Sign in; `show` takes the address for the user's browser. Where the tokens are kept.

    Raises `ToolError`: one sentence.
    """
    kept = GrantStorage(file)
    try:
        async with Redirect() as redirect, asyncio.timeout(WAITING):

            async def visit(address: str) -> None:
                _require_https(httpx2.URL(address), "the address to sign in")
                show(address)

            async def come_back() -> AuthorizationCodeResult:
                given = await redirect.answer()
                if "error" in given:
                    why = given.get("error_description") or given["error"]
                    raise ToolError(f"Signing in was refused: {short(why)}.")
                return AuthorizationCodeResult(
                    code=given.get("code", ""), state=given.get("state"), iss=given.get("iss")
                )

            provider = OAuthClientProvider(
                url, _client_metadata(redirect.url), kept, visit, come_back
            )
            kept.provider = provider
            await _request_sign_in(url, headers, provider, http)
    except TimeoutError:
        raise ToolError("Nobody signed in within five minutes.") from None
    except ToolError:
        raise
    except OAuthFlowError as error:
        said = str(error)
        if said.startswith("State parameter"):
            raise ToolError(
                "The browser came back from another attempt to sign in: try again."
            ) from error
        raise ToolError(f"Signing in failed: {short(said)}.") from error
    except (httpx2.HTTPError, OSError, ValueError) as error:
        raise ToolError(f"Signing in failed: {short(str(error))}.") from error
    if not kept.where:
        raise ToolError("The server does not require signing in.")
    return kept.where


async def _request_sign_in(
    url: str,
    headers: Mapping[str, str],
    provider: OAuthClientProvider,
    http: httpx2.AsyncBaseTransport | None,
) -> None:
    """Ask the server something, so that it asks for a token."""
    from pinfold.mcp.http import limit

    origin = httpx2.URL(url).copy_with(path="/", query=None)

    async def check(request: httpx2.Request) -> None:
        if request.url.copy_with(path="/", query=None) != origin:
            _require_https(request.url, "the server that signs in")

    given = {
        "accept": "application/json, text/event-stream",
        "accept-encoding": "identity",
        "mcp-protocol-version": "2025-11-25",
        **headers,
    }
    client = await asyncio.to_thread(
        lambda: httpx2.AsyncClient(
            auth=provider,
            transport=http,
            timeout=30.0,
            event_hooks={"request": [check], "response": [limit]},
        )
    )
    async with client, client.stream("POST", url, headers=given, json=_QUESTION):
        pass


def _require_https(url: httpx2.URL, what: str) -> None:
    """Raises `ToolError` unless the connection is encrypted or stays on this machine."""
    if url.scheme == "https" or (url.scheme == "http" and _is_here(url.host)):
        return
    raise ToolError(f"Signing in was stopped: {what} is not https: {short(str(url))}.")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _client_metadata(redirect: str) -> OAuthClientMetadata:
    return OAuthClientMetadata(client_name="pinfold", redirect_uris=[AnyUrl(redirect)])


def _as_json(model: BaseModel | None) -> dict[str, Any] | None:
    return model.model_dump(mode="json", exclude_none=True) if model is not None else None

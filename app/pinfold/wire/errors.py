"""Maps failed requests and error answers to the error tree of `pinfold.ports`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from pinfold.ports.errors import (
    AuthenticationFailed,
    ConnectTimedOut,
    ContentRefused,
    ContextOverflow,
    FirstByteTimedOut,
    NetworkError,
    Overloaded,
    ProviderError,
    RateLimited,
    RequestRejected,
)
from pinfold.wire import overflow
from pinfold.wire.retry_after import seconds_to_wait

_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_QUOTA = re.compile(
    r"exceeded your current quota|insufficient (?:balance|credits?|quota)", re.IGNORECASE
)
_ALLOWANCE = re.compile(r"per (?:min|hour|day)|rate limit|\bTPM\b", re.IGNORECASE)
_REFUSED_CODES = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "invalid_prompt"}
)
_REFUSED = re.compile(
    r"content (?:management )?policy|was flagged|data_inspection_failed", re.IGNORECASE
)
_FIGURES = ("n_ctx", "n_prompt_tokens")
"""Fields of llama.cpp."""
_BUSY_CODES = frozenset({"server_error", "overloaded_error", "unavailable_error", "api_error"})


@dataclass(frozen=True, slots=True)
class ApiServer:
    """The server that an error message names."""

    url: str
    key_env: str = ""
    """The environment variable that names the key."""
    has_key: bool = False

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc or self.url

    @property
    def is_local(self) -> bool:
        name = urlsplit(self.url).hostname or ""
        return name in {"localhost", "::1"} or name.startswith("127.")


class ErrorStatus(Exception):
    """A server answered with an error status; `body` is parsed where it is JSON."""

    def __init__(self, status: int, headers: Mapping[str, str], body: object) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.body = body


def from_exception(exc: BaseException, server: ApiServer) -> ProviderError:
    """The provider error for an exception raised during a request."""
    if isinstance(exc, ProviderError):
        return exc
    if isinstance(exc, ErrorStatus):
        return from_answer(exc.body, server, status=exc.status, headers=exc.headers)
    return _from_transport(exc, server)


def from_answer(
    body: object,
    server: ApiServer,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> ProviderError:
    """The provider error for a server's answer: an error status, or an error in a stream."""
    said = _read(body)
    if status is None:
        status = said.status
    wait = seconds_to_wait(headers or {}, said.text, datetime.now(UTC))
    kind, sentence = _classify(said, status, server, has_wait=wait is not None)
    if kind is ContextOverflow:
        return _overflow(said, sentence, status)
    return kind(sentence, status=status, retry_after=wait)


def _overflow(said: "_ErrorText", sentence: str, status: int | None) -> ContextOverflow:
    of_window = overflow.is_overflow(said.codes, said.text)
    if not of_window or status in {413, 429} or _ALLOWANCE.search(said.text):
        return ContextOverflow(sentence, status=status, of_window=False)
    figures = f"{said.figures} {said.text}"
    return ContextOverflow(
        sentence,
        status=status,
        limit=overflow.stated_limit(figures),
        tokens=overflow.stated_tokens(figures),
    )


@dataclass(frozen=True, slots=True)
class _ErrorText:
    codes: frozenset[str]
    text: str
    status: int | None
    html: bool = False
    figures: str = ""
    """Numbers that are in fields of their own."""

    @property
    def short(self) -> str:
        line = " ".join(self.text.split())
        plain = "".join(char for char in line if char.isprintable())
        return plain if len(plain) <= 300 else plain[:297] + "..."


def _read(body: object) -> _ErrorText:
    """Code and message from any of the formats that servers use."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict) and isinstance(body.get("error"), dict | str):
        body = body["error"]
    if not isinstance(body, dict):
        text = "" if body is None else str(body)
        html = text.lstrip()[:100].lower().startswith(("<!doctype", "<html", "<head", "<?xml"))
        return _ErrorText(frozenset(), text, None, html)
    named = [body.get("code"), body.get("type")]
    number = next((code for code in named if isinstance(code, int) and 400 <= code < 600), None)
    codes = frozenset(code for code in named if isinstance(code, str))
    fields = (f"{name} {body[name]}" for name in _FIGURES if isinstance(body.get(name), int))
    return _ErrorText(codes, _text(body), number, figures=" ".join(fields))


def _text(body: Mapping[str, Any]) -> str:
    said = body.get("message") or body.get("detail") or ""
    parts = [said if isinstance(said, str) else json.dumps(said)]
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
        parts.append(metadata["raw"])  # OpenRouter wraps what the provider behind it said
    return ": ".join(part for part in parts if part)


def _classify(
    said: _ErrorText, status: int | None, server: ApiServer, *, has_wait: bool
) -> tuple[type[ProviderError], str]:
    host = server.host
    because = f": {said.short}" if said.short and not said.html else ""
    refused_key = status in {401, 403}
    if not refused_key and (
        overflow.is_overflow(said.codes, said.text)
        or overflow.is_otherwise_too_large(said.codes, said.text)
    ):
        return ContextOverflow, f"The request does not fit the model's context window{because}"
    # Gemini speaks of the quota of a minute in the same words, and says how long to wait.
    used_up = _QUOTA.search(said.text) and not has_wait
    if status == 402 or said.codes & _QUOTA_CODES or used_up:
        return RequestRejected, f"{host} says that the account has no credit left{because}"
    if said.codes & _REFUSED_CODES or _REFUSED.search(said.text):
        return ContentRefused, f"{host} refused the content{because}"
    if refused_key:
        return AuthenticationFailed, _key_sentence(server, because)
    if status == 429 or "rate_limit_exceeded" in said.codes or "rate_limit_error" in said.codes:
        return RateLimited, f"{host} is limiting the rate of requests{because}"
    if status == 413:
        return ContextOverflow, f"The request is too large for {host}{because}"
    if said.html and (status is None or status < 500):
        return RequestRejected, _not_an_api(server)
    if status is None or status >= 500 or status in {408, 409, 425} or said.codes & _BUSY_CODES:
        number = f" ({status})" if status else ""
        return Overloaded, f"{host} failed or is overloaded{number}{because}"
    if status in {404, 405} and said.short.lower() in {"", "not found", "method not allowed"}:
        return RequestRejected, _not_an_api(server)
    number = f" ({status})" if status >= 400 else ""
    return RequestRejected, f"{host} refused the request{number}{because}"


def _key_sentence(server: ApiServer, because: str) -> str:
    if server.has_key and server.key_env:
        return f"{server.host} refused the key in {server.key_env}{because}"
    if server.has_key:
        return f"{server.host} refused the key{because}"
    if server.key_env:
        return f"{server.host} needs a key: set {server.key_env}{because}"
    return f"{server.host} needs a key: name its variable in api_key_env{because}"


def _not_an_api(server: ApiServer) -> str:
    return (
        f"{server.url} does not answer as an OpenAI-compatible API: "
        "check the base URL (most end in /v1)"
    )


def _from_transport(exc: BaseException, server: ApiServer) -> ProviderError:
    """By the names of its classes: the library that they come from is imported late."""
    names: set[str] = set()
    cause: BaseException | None = exc
    text = ""
    while cause is not None:
        names |= {kind.__name__ for kind in type(cause).__mro__}
        text = str(cause) or text
        cause = cause.__cause__ or cause.__context__
    if "ConnectTimeout" in names:
        return ConnectTimedOut(f"No connection to {server.host} in time: {_hint(server)}")
    if "TimeoutException" in names:
        return FirstByteTimedOut(f"No answer from {server.url} in time")
    if names & {"UnsupportedProtocol", "InvalidURL"}:
        return RequestRejected(
            f"{server.url!r} is not a base URL: it starts with http:// or https://"
        )
    if names & {"LocalProtocolError", "UnicodeEncodeError"}:
        return RequestRejected(f"The request to {server.host} can't be encoded: {text}")
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return NetworkError(f"The certificate of {server.host} could not be verified")
    if "ConnectError" in names:
        return NetworkError(f"No answer from {server.url}: {_hint(server)}")
    return NetworkError(f"The connection to {server.host} broke" + (f": {text}" if text else ""))


def _hint(server: ApiServer) -> str:
    return "is the server running?" if server.is_local else "is the network up?"

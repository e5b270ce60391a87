"""A server over HTTP that wants a token, and who gives it, on loopback."""

import json
import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

STAMP = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
REPLIES: dict[str, dict[str, Any]] = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "hi"}]},
}


class OAuthServer:
    """What it did, and what it shall do."""

    def __init__(self) -> None:
        self.base = ""
        self.lives = 3600
        """Seconds that a token is valid, as it says."""
        self.asked: list[str] = []
        self.challenges: dict[str, str] = {}
        self.valid = ""
        """The token that opens the server."""
        self.refresh = ""
        self.elsewhere = ""
        """The address to sign in, where that is another one."""

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    def token(self) -> dict[str, Any]:
        number = len(self.asked)
        self.valid, self.refresh = f"access-{number}", f"refresh-{number}"
        given = {"access_token": self.valid, "refresh_token": self.refresh}
        return {**given, "token_type": "Bearer", "expires_in": self.lives}

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": f"{self.base}/",
            "authorization_endpoint": self.elsewhere or f"{self.base}/authorize",
            "token_endpoint": f"{self.base}/oauth/token",
            "registration_endpoint": f"{self.base}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }

    def browser(self, address: str, **instead: str) -> None:
        """What a user's browser does at the address to sign in."""
        asked = {name: one[0] for name, one in parse_qs(urlsplit(address).query).items()}
        assert asked["code_challenge_method"] == "S256"
        self.challenges["the-code"] = asked["code_challenge"]
        answer = {"code": "the-code", "state": asked["state"], **instead}
        back = f"{asked['redirect_uri']}?{urlencode(answer)}"
        assert back.startswith("http://127.0.0.1:")
        threading.Thread(target=lambda: urlopen(back).read(), daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Any

    def log_message(self, *_: Any) -> None:
        pass

    def _reply(self, status: int, value: Any, **headers: str) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        fake: OAuthServer = self.server.fake
        fake.asked.append(self.path)
        if self.path.startswith("/.well-known/oauth-protected-resource"):
            self._reply(200, {"resource": fake.url, "authorization_servers": [f"{fake.base}/"]})
        elif self.path.startswith("/.well-known/oauth-authorization-server"):
            self._reply(200, fake.metadata())
        else:
            self._reply(404, {})

    def do_POST(self) -> None:
        fake: OAuthServer = self.server.fake
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fake.asked.append(self.path)
        if self.path == "/register":
            self._reply(201, {**json.loads(body), "client_id": "me"})
        elif self.path == "/oauth/token":
            given = {name: one[0] for name, one in parse_qs(body.decode()).items()}
            if given["grant_type"] == "refresh_token":
                known = given["refresh_token"] == fake.refresh
            else:
                digest = sha256(given["code_verifier"].encode()).digest()
                challenge = urlsafe_b64encode(digest).decode().rstrip("=")
                known = fake.challenges.pop(given["code"], "") == challenge
            self._reply(200, fake.token()) if known else self._reply(
                400, {"error": "invalid_grant"}
            )
        elif self.headers.get("Authorization") != f"Bearer {fake.valid}":
            where = f'Bearer resource_metadata="{fake.base}/.well-known/oauth-protected-resource"'
            self._reply(401, {}, WWW_Authenticate=where)
        else:
            message = json.loads(body)
            result = REPLIES.get(message["method"])
            number = message.get("id")
            if result is None:
                error = {"code": -32601, "message": "unknown"}
                self._reply(200, {"jsonrpc": "2.0", "id": number, "error": error})
            else:
                self._reply(200, {"jsonrpc": "2.0", "id": number, "result": {**STAMP, **result}})


@contextmanager
def oauth_server() -> Iterator[OAuthServer]:
    fake = OAuthServer()
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.fake = fake
    server.daemon_threads = True
    fake.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""Ten replies of 8,000 tokens of Markdown: what they leave in memory."""

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bench_start import PINFOLD, PLACEHOLDER
from benchmarks.bench_transcript import TOKENS, reply
from benchmarks.figures import Figure
from benchmarks.terminal import Terminal

REPLIES = 10
LARGEST = 150.0
"""MiB."""
PIECE = 4
"""Tokens in an event."""


class Server(BaseHTTPRequestHandler):
    """Speaks enough of Chat Completions."""

    def do_GET(self) -> None:
        self._head("application/json")
        self.wfile.write(b'{"object":"list","data":[{"id":"m","object":"model"}]}')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._head("text/event-stream")
        tokens = reply(TOKENS)
        for at in range(0, len(tokens), PIECE):
            self._send({"content": "".join(tokens[at : at + PIECE])})
        # The end of each reply is told apart from all before: the screen shows what changed.
        self.server.replies += 1  # type: ignore[attr-defined]
        self._send({"content": f"\n\nreply-{self.server.replies}-ends"})  # type: ignore[attr-defined]
        self._send({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _head(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def _send(self, delta: dict[str, str], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "r", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing on the screen."""


def run() -> Iterable[Figure]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server, TemporaryDirectory() as home:
        server.replies = 0  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        folder = Path(home, "pinfold")
        folder.mkdir()
        (folder / "config.toml").write_text(
            f'[providers.fake]\nbase_url = "http://127.0.0.1:{server.server_port}/v1"\n'
            '[model]\nprovider = "fake"\nname = "m"\ncontext_window = 400_000\n'
        )
        env = {"PINFOLD_HOME": home, "XDG_CONFIG_HOME": home}
        with Terminal(PINFOLD, env) as terminal:
            terminal.wait_for(PLACEHOLDER)
            for number in range(1, REPLIES + 1):
                terminal.send("go on\r")
                terminal.wait_for(f"reply-{number}-ends")
                terminal.drain(1)
            yield Figure("memory after ten replies (PSS)", terminal.memory(), "MiB", target=LARGEST)
        server.shutdown()

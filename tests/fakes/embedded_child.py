"""Stands in for `pinfold.providers.embedded_server`: one JSON line, scripted answers, no model.

The content of the last message says what happens: `die` ends the process in mid-stream, anything
else is answered with the body of the request. Its fields are counted as its tokens.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        if self.path.endswith("/input_tokens"):
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps({"input_tokens": len(body)}).encode())
            return
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        if body["messages"][-1]["content"] == "die":
            self._send({"content": "half"}, None)
            print("0.01 E out of memory", file=sys.stderr, flush=True)
            os._exit(3)
        body["authorization"] = self.headers["authorization"]
        self._send({"content": json.dumps(body)}, None)
        self._send({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, delta: dict[str, str], finish: str | None) -> None:
        chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()


def main() -> None:
    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    print("noise " * 100_000, file=sys.stderr)
    print(json.dumps({"address": f"http://127.0.0.1:{server.server_port}", "api_key": "secret"}))
    sys.stdout.flush()
    while os.read(0, 4096):
        pass
    os._exit(0)


main()

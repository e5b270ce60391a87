"""Receives the browser's redirect after signing in: one request on the loopback interface."""

import asyncio
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

MOST_BYTES = 16_384
PATH = "/callback"
SECONDS = 10.0
"""That a browser has to send its request."""
_PAGE = "pinfold has received the answer. You can close this page."


class Redirect:
    """Listens on a free port of 127.0.0.1 until left."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self.url = ""

    async def __aenter__(self) -> Self:
        """Raises `OSError`."""
        self._server = await asyncio.start_server(self._hear, "127.0.0.1", 0, limit=MOST_BYTES)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}{PATH}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def answer(self) -> dict[str, str]:
        """What the browser brought."""
        return await self._answer

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ", 2)
                found = urlsplit(target)
                known = method == "GET" and found.path == PATH
                status, text = ("200 OK", _PAGE) if known else ("404 Not Found", "Not here.")
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nConnection: close\r\n"
                    f"Content-Length: {len(text)}\r\n\r\n{text}".encode()
                )
                await writer.drain()
                if known and not self._answer.done():
                    values = parse_qs(found.query)
                    self._answer.set_result({name: each[0] for name, each in values.items()})
        except (OSError, ValueError, TimeoutError, EOFError, asyncio.LimitOverrunError):
            pass  # it was no browser
        finally:
            writer.close()

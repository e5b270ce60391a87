"""A server's port whose first connection is cut before its n-th answer reaches the client."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Cutter:
    def __init__(self, port: int, at: int) -> None:
        self._to = port
        self._left = at
        self.cut = False
        """Whether it came to that."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        first = True
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._to))
                threading.Thread(target=_pump, args=(client, server), daemon=True).start()
                answers = self._answers if first else _pump
                threading.Thread(target=answers, args=(server, client), daemon=True).start()
                first = False

    def _answers(self, server: socket.socket, client: socket.socket) -> None:
        """Pass the server's messages on, one at a time."""
        with suppress(OSError), server.makefile("rb") as read:
            client.sendall(read.read(1))  # the answer to the question for TLS
            while head := read.read(5):
                body = read.read(int.from_bytes(head[1:]) - 4)
                self._left -= 1
                if self._left == 0:
                    self.cut = True
                    break
                client.sendall(head + body)
        for one in (client, server):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def close(self) -> None:
        self._listener.close()


def _pump(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65_536):
            other.sendall(data)
    with suppress(OSError):
        other.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting(port: int, at: int) -> Iterator[Cutter]:
    made = Cutter(port, at)
    try:
        yield made
    finally:
        made.close()

"""Whether a sandbox is what made a command fail."""

from pathlib import Path

import pytest

from pinfold.ports.tool import Sandbox
from pinfold.tools.sandbox.denied import ways

CLOSED = Sandbox("bubblewrap", (Path("/w"),), Path("/s"))
OPEN = Sandbox("bubblewrap", (Path("/w"),), Path("/s"), network=True)


@pytest.mark.parametrize(
    "output",
    [
        "curl: (6) Could not resolve host: example.org",
        "fatal: unable to access 'https://x/': Could not resolve host: x",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "npm error code ENOTFOUND",
        "Error: getaddrinfo EAI_AGAIN registry.npmjs.org",
        "dial tcp: lookup proxy.golang.org: no such host",
        "psql: error: connection refused",
        "connect: Network is unreachable",
        "WARNING: Retrying ... Failed to establish a new connection",
        "error: failed to download from `https://x`",
    ],
)
def test_no_network(output: str) -> None:
    assert ways(output, 1, CLOSED) == ("network", "outside")
    assert ways(output, 1, OPEN) == ()
    assert ways(output, 0, CLOSED) == ()
    assert ways(output, None, CLOSED) == ()
    assert ways(output, 1, None) == ()


@pytest.mark.parametrize(
    "output",
    [
        "touch: cannot touch '/etc/x': Read-only file system",
        "OSError: [Errno 30] Read-only file system: '/root/.cache/x'",
        "EROFS: read-only file system, open '/usr/lib/x'",
        "sqlite3.OperationalError: attempt to write a readonly database",
        "mv: cannot move '.git' to 'g': Device or resource busy",
        "bwrap: Can't mkdir parents",
    ],
)
def test_a_denied_write(output: str) -> None:
    assert ways(output, 1, CLOSED) == ("outside",)
    assert ways(output, 1, OPEN) == ("outside",)


def test_what_may_be_either() -> None:
    assert ways("sh: x: Permission denied", 126, CLOSED) == ("network", "outside")
    assert ways("Operation not permitted", 1, OPEN) == ("outside",)


@pytest.mark.parametrize(
    "output", ["1 failed, 3 passed", "error: unused variable", "make: *** [x] Error 2", ""]
)
def test_an_ordinary_failure(output: str) -> None:
    assert ways(output, 1, CLOSED) == ()

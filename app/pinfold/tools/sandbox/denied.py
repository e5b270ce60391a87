"""Guesses from a command's output whether it failed because of its sandbox."""

import re
from typing import Literal

from pinfold.ports.tool import Sandbox

NOT_MADE = "bwrap: "
"""What begins the output of a sandbox that could not be made."""
Way = Literal["network", "outside"]
NETWORK = re.compile(
    r"could not resolve|name resolution|name or service not known|nodename nor servname"
    r"|network is (?:unreachable|down)|no route to host|connection refused|getaddrinfo|dns error"
    r"|\bE(?:NOTFOUND|AI_AGAIN|CONNREFUSED|NETUNREACH|HOSTUNREACH)\b|no such host"
    r"|failed to establish a new connection|(?:could not|unable to|failed to) connect"
    r"|error sending request|proxyconnect|failed to download|could not fetch|network error",
    re.IGNORECASE,
)
WRITE = re.compile(
    r"read-only file ?system|readonly (?:file ?system|database)|\bEROFS\b|device or resource busy"
    r"|^bwrap: ",
    re.IGNORECASE | re.MULTILINE,
)
UNSURE = re.compile(
    r"permission denied|operation not permitted|\bE(?:ACCES|PERM)\b|not permitted", re.IGNORECASE
)


def ways(output: str, exit_code: int | None, sandbox: Sandbox | None) -> tuple[Way, ...]:
    """How it might succeed: with the network, or outside the sandbox. Nothing where it is fine."""
    if sandbox is None or exit_code in (0, None):
        return ()
    unsure = UNSURE.search(output) is not None
    network = not sandbox.network and (unsure or NETWORK.search(output) is not None)
    if not (network or unsure or WRITE.search(output)):
        return ()
    return ("network", "outside") if network else ("outside",)

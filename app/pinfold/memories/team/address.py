"""The connection arguments of a team's database: encrypted, and with the server's name checked.

Whatever matters for that is passed explicitly, since libpq takes what is missing from `PG...`
variables and a service file.
"""

import os
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pinfold.memories.records import StateError
from pinfold.sanitize import one_line

SCHEME = "postgresql+psycopg"
_LOOPBACK = ("127.0.0.1", "::1")
_ALLOWED = ("host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey")
"""The parameters that a URL may have; `sslmode` is overridden."""
CONNECT_TIMEOUT = 2
"""Seconds."""
PASSWORD = "PGPASSWORD"  # noqa: S105  a variable's name


def connect_arguments(
    url: str,
    env: Mapping[str, str] = os.environ,
    stored: Callable[[str], str | None] = lambda _: None,
) -> dict[str, Any]:
    """The arguments for `psycopg.connect`. `stored` returns the stored password of `user@host/db`.

    Raises `StateError`.
    """
    try:
        parts = urlsplit(url)
        host, user = unquote(parts.hostname or ""), unquote(parts.username or "")
        query = dict(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        )
        port = parts.port or int(query.get("port", 5432))
    except ValueError as error:
        raise _refused(f"is not a URL: {error}") from error
    if parts.scheme != SCHEME:
        raise _refused(f"must begin with {SCHEME}://")
    if parts.password is not None or {"password", "passfile"} & set(query):
        raise _refused(
            f"must not contain a password: put it into {PASSWORD}, or into the keyring as "
            "`keyring set pinfold USER@HOST/DATABASE`"
        )
    if unknown := next((name for name in query if name not in _ALLOWED), None):
        raise _refused(f"can't set {one_line(unknown)}; allowed: {', '.join(_ALLOWED)}")
    host = host or query.get("host", "")
    database = unquote(parts.path.removeprefix("/"))
    if not host or not database or "," in host:
        raise _refused(f"must name one host and a database: {SCHEME}://USER@HOST/DATABASE")
    if not user:
        raise _refused("must name your role: the owner of what you share")
    local = host.startswith("/")
    arguments: dict[str, Any] = {
        "host": host,
        # Without it, libpq would connect to an address from the environment.
        "hostaddr": host if host in _LOOPBACK else "",
        "port": port,
        "dbname": database,
        "user": user,
        "connect_timeout": CONNECT_TIMEOUT,
        "options": "",
        "gssencmode": "disable",
        "application_name": "pinfold",
    }
    if local or host in _LOOPBACK:
        arguments["sslmode"] = "prefer"
    else:
        arguments |= {
            "sslmode": "verify-full",
            "sslrootcert": query.get("sslrootcert") or _roots(),
            "ssl_min_protocol_version": "TLSv1.2",
        }
        arguments |= {name: query[name] for name in ("sslcert", "sslkey") if query.get(name)}
    password = env.get(PASSWORD) or (None if local else stored(f"{user}@{host}/{database}"))
    return arguments | ({"password": password} if password else {})


def from_keyring(name: str) -> str | None:
    """The password in the keyring under that name; None if there is none."""
    try:
        import keyring

        return keyring.get_password("pinfold", name)
    except Exception:  # a desktop's keyring may raise anything
        return None


def _roots() -> str:
    """The certificates that the system trusts, or the user's own for PostgreSQL."""
    own = Path("~/.postgresql/root.crt").expanduser()
    if own.exists():
        return str(own)
    return ssl.get_default_verify_paths().cafile or "system"


def _refused(why: str) -> StateError:
    return StateError(f"[memories] database {why}.")

"""The configuration of a server."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from pinfold.mcp.offers import digest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
INHERITED = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ"),
    *("TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
)
"""Variables that every server sees; no others but those that its config names."""


class DefinitionError(Exception):
    """The configuration of a server is wrong; `str()` is one sentence."""


class Definition(Struct, frozen=True):
    """One server. `${VAR}` in its texts stands for a variable, `${VAR:-text}` has a default."""

    name: str
    source: Literal["user", "project"] = "user"
    command: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    """The folder it works in, from the session's on; empty is that one."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    bearer_env: str = ""
    """The variable that holds the bearer token for the URL."""
    env: Mapping[str, str] = field(default_factory=dict)
    enabled_tools: tuple[str, ...] = ()
    """Only these, where there are any."""
    disabled_tools: tuple[str, ...] = ()
    sandbox: bool = False
    network: bool = False
    """Whether it has the network in its sandbox."""
    startup_timeout: float = 10.0
    tool_timeout: float = 60.0

    def uses(self, tool: str) -> bool:
        named = not self.enabled_tools or tool in self.enabled_tools
        return named and tool not in self.disabled_tools

    def key(self, folder: Path, *more: str) -> str:
        """What its files are called: of the user's server the same in every folder, of a project's
        in its `folder` alone."""
        place = str(folder) if self.source == "project" else ""
        return digest([self.source, place, self.name, *more])[:32]

    @property
    def how(self) -> "Definition":
        """The definition without what does not affect how it starts."""
        return replace(
            self, enabled_tools=(), disabled_tools=(), startup_timeout=0.0, tool_timeout=0.0
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """All in which variables may stand."""
        return (
            *(self.command, self.cwd, self.url, *self.args),
            *self.env.values(),
            *self.headers.values(),
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of those that it wants to know."""
        named = [name for text in self.texts for name, _ in _VARIABLE.findall(text)]
        return tuple(sorted({*named, *([self.bearer_env] if self.bearer_env else ())}))

    @property
    def line(self) -> str:
        """Its command or URL, for people."""
        return self.url or " ".join((self.command, *self.args))


def check(definition: Definition) -> None:
    """Raises `DefinitionError`."""
    name = definition.name
    if not _NAME.fullmatch(name) or "__" in name:
        raise DefinitionError(
            f"A server can't be called {name[:80]!r}: letters, digits, dots, dashes and single "
            "underscores, at most 64."
        )
    if bool(definition.command) == bool(definition.url):
        raise DefinitionError(f'The server "{name}" needs a command or a url, and not both.')
    if definition.url and not definition.url.startswith(("http://", "https://", "${")):
        raise DefinitionError(
            f'The url of the server "{name}" must begin with http:// or https://.'
        )
    if any("\0" in text for text in (*definition.texts, *definition.env, *definition.headers)):
        raise DefinitionError(f'The server "{name}" has a NUL character in its configuration.')


def expanded(definition: Definition, env: Mapping[str, str], secret: Collection[str]) -> Definition:
    """With the values of its variables. `secret` are names that no server gets.

    Raises `DefinitionError`.
    """
    name = definition.name
    for variable in definition.variables:
        if variable in secret:
            raise DefinitionError(
                f'The server "{name}" asks for {variable}, which holds the key of a provider. '
                "No server gets such a key."
            )

    def value(match: re.Match[str]) -> str:
        variable, default = match.groups()
        if (found := env.get(variable)) or default is not None:
            return found or default
        raise DefinitionError(
            f'The server "{name}" needs the variable {variable}, which is not set.'
        )

    def fill(text: str) -> str:
        return _VARIABLE.sub(value, text)

    headers = {key: fill(text) for key, text in definition.headers.items()}
    if definition.bearer_env:
        token = env.get(definition.bearer_env)
        if not token:
            raise DefinitionError(
                f'The server "{name}" needs the variable {definition.bearer_env}, which is not set.'
            )
        headers["Authorization"] = f"Bearer {token}"
    return replace(
        definition,
        command=fill(definition.command),
        args=tuple(map(fill, definition.args)),
        cwd=fill(definition.cwd),
        url=fill(definition.url),
        env={key: fill(text) for key, text in definition.env.items()},
        headers=headers,
    )


def filled(text: str, env: Mapping[str, str]) -> str:
    """A text with the values of its variables; those that are not set are empty."""
    return _VARIABLE.sub(lambda match: env.get(match[1]) or match[2] or "", text)


def environment(definition: Definition, env: Mapping[str, str]) -> dict[str, str]:
    """What the process sees, of an expanded definition."""
    return {name: env[name] for name in INHERITED if name in env} | dict(definition.env)


def folder_of(definition: Definition, workspace: Path) -> Path:
    return workspace / Path(definition.cwd).expanduser()

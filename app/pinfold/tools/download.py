"""Pages of the web, each from an address that was checked before it is connected to."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinfold import __version__
from pinfold.ports.tool import ToolError
from pinfold.tools.workspace import size_text

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 2_000_000
"""Of a page, unpacked; the rest is not read."""
MAX_REDIRECTS = 5
SECONDS = 30
"""For all of it."""
CONNECT_SECONDS = 10
_HEADERS = {
    "User-Agent": f"pinfold/{__version__}",
    "Accept": "text/markdown, text/html, text/plain;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host and port. Raises `OSError`."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a server answered."""

    url: str
    """After redirects."""
    media_type: str
    charset: str
    """Empty where the server does not say."""
    data: bytes
    cut: bool
    """Whether there is more."""


class Downloader:
    """Fetches pages. Each address is resolved once and connected to as it was checked, so that a
    name cannot lead elsewhere in between; redirects are checked like the first address."""

    def __init__(
        self,
        private: Collection[str] = (),
        *,
        resolve: Resolve | None = None,
        transport: "httpx2.AsyncBaseTransport | None" = None,
    ) -> None:
        """`private` are hosts that may have addresses of this machine or a private network."""
        self._private = private
        self._resolve = resolve or _resolve
        self._transport = transport

    async def fetch(self, text: str) -> Fetched:
        """The page at a URL that `parsed` accepts. Raises `ToolError`."""
        import httpx2

        try:
            async with (
                asyncio.timeout(SECONDS),
                httpx2.AsyncClient(
                    transport=self._transport,
                    verify=ssl.create_default_context(),
                    timeout=httpx2.Timeout(SECONDS, connect=CONNECT_SECONDS),
                    trust_env=False,  # neither its proxies nor the user's .netrc
                ) as client,
            ):
                return await self._follow(client, parsed(text))
        except TimeoutError:
            raise ToolError(f"{text} took more than {SECONDS} s.") from None
        except httpx2.TimeoutException:
            raise ToolError(f"The server of {text} does not answer.") from None
        except httpx2.HTTPError as error:
            raise ToolError(f"{text} could not be fetched: {error}") from error

    async def _follow(self, client: "httpx2.AsyncClient", url: "httpx2.URL") -> Fetched:
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._send(client, url)
            try:
                if response.has_redirect_location:
                    url = _next(url, response.headers["location"])
                    continue
                if response.is_error:
                    status = f"{response.status_code} {response.reason_phrase}".strip()
                    raise ToolError(f"{url} answered {status}.")
                return await _read(response, str(url))
            finally:
                await response.aclose()
        raise ToolError(f"{url} redirects more than {MAX_REDIRECTS} times.")

    async def _send(self, client: "httpx2.AsyncClient", url: "httpx2.URL") -> "httpx2.Response":
        import httpx2

        addresses = await self._addresses(url)
        host = url.raw_host.decode("ascii")
        for address in addresses:
            request = client.build_request(
                "GET",
                url.copy_with(host=address),
                headers={**_HEADERS, "Host": url.netloc.decode("ascii")},
                extensions={"sni_hostname": host},
            )
            try:
                return await client.send(request, stream=True)
            except httpx2.ConnectError:
                if address == addresses[-1]:
                    raise
        raise AssertionError("`_addresses` gives at least one")

    async def _addresses(self, url: "httpx2.URL") -> list[str]:
        """Where to connect. Raises `ToolError` where that is not allowed."""
        host, port = url.host, url.port or {"http": 80, "https": 443}[url.scheme]
        try:
            found = await self._resolve(host, port)
        except OSError as error:
            raise ToolError(f"{host} has no address: {error.strerror or error}.") from error
        if not found:
            raise ToolError(f"{host} has no address.")
        if host not in self._private and not all(map(is_public, found)):
            raise ToolError(
                f"{host} is on this machine or in a private network. The user can allow it with "
                f'`private = ["{host}"]` under [web] in config.toml.'
            )
        return found


def parsed(text: str) -> "httpx2.URL":
    """A URL of the web. Raises `ToolError`."""
    import httpx2

    try:
        url = httpx2.URL(text.strip())
    except (httpx2.InvalidURL, ValueError) as error:
        raise ToolError(f"{text!r} is not a URL: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ToolError(f"{text!r} is not a URL that starts with https:// or http://.")
    if url.userinfo:
        raise ToolError("Leave the user name and password out of the URL.")
    return url.copy_with(fragment=None)


def origin(url: "httpx2.URL") -> str:
    """Scheme, host and port: `https://docs.python.org`."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet's."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _next(url: "httpx2.URL", location: str) -> "httpx2.URL":
    """Where a redirect leads. To another host the user has not said yes yet."""
    new = parsed(str(url.join(location)))
    if url.scheme == "https" and new.scheme != "https":
        raise ToolError(f"{url} redirects to {new}, which is not encrypted.")
    same_port = new.port == url.port or (url.port, new.port) == (None, None)
    if _site(new) != _site(url) or not same_port:
        raise ToolError(f"{url} redirects to another host. Fetch {new} if that is what you want.")
    return new


def _site(url: "httpx2.URL") -> str:
    return url.host.removeprefix("www.")


async def _read(response: "httpx2.Response", url: str) -> Fetched:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not _is_text(media_type):
        size = response.headers.get("content-length", "")
        length = f", {size_text(int(size))}" if size.isdecimal() else ""
        raise ToolError(f"{url} is not text: {media_type}{length}.")
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > MAX_BYTES:
            break
    charset = response.charset_encoding or ""
    return Fetched(url, media_type, charset, bytes(data[:MAX_BYTES]), len(data) > MAX_BYTES)


def _is_text(media_type: str) -> bool:
    """Whether a media type is known to be text; servers may leave it out."""
    subtype = media_type.partition("/")[2]
    return (
        not media_type
        or media_type.startswith("text/")
        or subtype.rpartition("+")[2] in ("json", "xml", "yaml")
        or subtype in ("javascript", "toml", "x-yaml", "x-sh", "x-ndjson", "sql")
    )


async def _resolve(host: str, port: int) -> list[str]:
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))

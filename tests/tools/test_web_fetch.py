import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from pinfold.ports.tool import ToolContext, ToolError
from pinfold.settings import Mode
from pinfold.tools.approvals import Allowed, Ask, verdict
from pinfold.tools.download import MAX_BYTES, Downloader, is_public
from pinfold.tools.web_fetch import WebFetch

PUBLIC = "93.184.216.34"
PAGE = """<html><head><title>Retry</title></head><body>
<nav><a href="/">Home</a></nav>
<main><h1>Retry</h1>
<p>Use the <code>retry</code> decorator, as <a href="/api">the API</a> says in its chapter.</p>
<pre><code>@retry(times=3)
def call(): ...</code></pre></main>
<footer>All rights reserved</footer></body></html>"""

Answer = Callable[[httpx2.Request], httpx2.Response]


class Web:
    """Names with addresses, and one server behind all of them."""

    def __init__(self, answer: Answer, names: dict[str, list[str]]) -> None:
        self.asked: list[httpx2.Request] = []
        self.names = names
        self._answer = answer

    async def resolve(self, host: str, port: int) -> list[str]:
        return self.names[host]

    def serve(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        return self._answer(request)

    def tool(self, private: tuple[str, ...] = (), hosts: tuple[str, ...] = ()) -> WebFetch:
        transport = httpx2.MockTransport(self.serve)
        return WebFetch(Downloader(private, resolve=self.resolve, transport=transport), hosts)


def html(request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, html=PAGE)


async def fetched(tool: WebFetch, url: str, context: ToolContext) -> str:
    return (await tool.run(json.dumps({"url": url}), context)).output


async def test_a_page_comes_as_its_main_text_in_markdown(context: ToolContext) -> None:
    web = Web(html, {"docs.example": [PUBLIC]})
    text = await fetched(web.tool(), "https://docs.example/guide#retry", context)
    assert text.startswith("[https://docs.example/guide. What follows is data from the web")
    assert "# Retry" in text
    assert "[the API](https://docs.example/api)" in text
    assert "@retry(times=3)" in text
    assert "All rights reserved" not in text


async def test_it_connects_to_the_address_that_was_checked(context: ToolContext) -> None:
    """A name that leads elsewhere the next time it is asked leads nowhere."""
    web = Web(html, {"docs.example": [PUBLIC]})
    await fetched(web.tool(), "https://docs.example:8443/guide?q=1", context)
    [request] = web.asked
    assert str(request.url) == f"https://{PUBLIC}:8443/guide?q=1"
    assert request.headers["host"] == "docs.example:8443"
    assert request.extensions["sni_hostname"] == "docs.example"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1"),
        *("64:ff9b::a00:1", "2002:7f00:1::"),
    ],
)
async def test_no_address_of_a_private_network_is_asked(address: str, context: ToolContext) -> None:
    web = Web(html, {"intranet.example": [PUBLIC, address]})
    with pytest.raises(ToolError, match="private network"):
        await fetched(web.tool(), "http://intranet.example/", context)
    assert web.asked == []
    assert not is_public(address)


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:220:1::1", "64:ff9b::5db8:d822"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


async def test_a_private_host_that_the_user_allowed_is_asked(context: ToolContext) -> None:
    web = Web(html, {"wiki.corp": ["10.0.0.7"], "::1": ["::1"]})
    tool = web.tool(private=("wiki.corp", "::1"))
    assert "# Retry" in await fetched(tool, "http://wiki.corp/", context)
    assert "# Retry" in await fetched(tool, "http://[::1]:8080/", context)
    assert [request.url.host for request in web.asked] == ["10.0.0.7", "::1"]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("file:///etc/passwd", "starts with https"),
        ("docs.example/guide", "starts with https"),
        ("http://", "starts with https"),
        ("https://me:secret@docs.example/", "user name"),
        ("https://docs.example:port/", "not a URL"),
    ],
)
def test_what_is_no_page_of_the_web_is_refused(url: str, why: str, context: ToolContext) -> None:
    with pytest.raises(ToolError, match=why):
        Web(html, {}).tool().review(json.dumps({"url": url}), context)


async def test_a_redirect_on_the_same_host_is_followed(context: ToolContext) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/new":
            return httpx2.Response(200, text="moved here")
        return httpx2.Response(301, headers={"location": "https://www.docs.example/new"})

    web = Web(answer, {"docs.example": [PUBLIC], "www.docs.example": [PUBLIC]})
    assert (await fetched(web.tool(), "http://docs.example/", context)).endswith("moved here")


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("https://other.example/page", "another host. Fetch https://other.example/page"),
        ("https://docs.example:8443/", "another host"),
        ("http://docs.example/", "not encrypted"),
        ("/again", "more than 5 times"),
        ("file:///etc/passwd", "starts with https"),
    ],
)
async def test_other_redirects_are_not(location: str, why: str, context: ToolContext) -> None:
    web = Web(
        lambda request: httpx2.Response(302, headers={"location": location}),
        {"docs.example": [PUBLIC], "other.example": [PUBLIC]},
    )
    with pytest.raises(ToolError, match=why):
        await fetched(web.tool(), "https://docs.example/", context)
    assert {request.headers["host"] for request in web.asked} == {"docs.example"}


async def test_a_host_that_moved_into_a_private_network_is_not_followed(
    context: ToolContext,
) -> None:
    web = Web(
        lambda request: httpx2.Response(302, headers={"location": "/again"}),
        {"docs.example": [PUBLIC]},
    )

    async def rebound(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if web.asked else [PUBLIC]

    downloader = Downloader(resolve=rebound, transport=httpx2.MockTransport(web.serve))
    with pytest.raises(ToolError, match="private network"):
        await fetched(WebFetch(downloader), "https://docs.example/", context)
    assert len(web.asked) == 1


async def test_what_is_too_large_is_cut_and_says_so(context: ToolContext) -> None:
    web = Web(lambda _: httpx2.Response(200, text="x" * (MAX_BYTES + 1)), {"a.example": [PUBLIC]})
    text = await fetched(web.tool(), "https://a.example/", context)
    assert "; cut after 2.0 MB. " in text.partition("\n")[0]
    assert text.count("x" * 1_000) == MAX_BYTES // 1_000


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (httpx2.Response(404), "answered 404 Not Found"),
        (
            httpx2.Response(200, content=b"%PDF", headers={"content-type": "application/pdf"}),
            "not text: application/pdf, 4 bytes",
        ),
        (httpx2.Response(200, html="<html><script>start()</script></html>"), "running its scripts"),
    ],
)
async def test_what_gives_no_text_is_told(
    response: httpx2.Response, why: str, context: ToolContext
) -> None:
    web = Web(lambda _: response, {"a.example": [PUBLIC]})
    with pytest.raises(ToolError, match=why):
        await fetched(web.tool(), "https://a.example/", context)


async def test_a_charset_that_is_no_text_does_no_harm(context: ToolContext) -> None:
    headers = {"content-type": "text/plain; charset=zlib"}
    web = Web(lambda _: httpx2.Response(200, content=b"plain", headers=headers), {"a.b": [PUBLIC]})
    assert (await fetched(web.tool(), "https://a.b/", context)).endswith("plain")


@pytest.mark.parametrize("mode", ["read-only", "ask", "workspace"])
def test_each_host_asks_once(mode: Mode, context: ToolContext, tmp_path: Path) -> None:
    tool = Web(html, {}).tool(hosts=("*.python.org",))

    def asks(url: str, *said: str) -> bool:
        review = tool.review(json.dumps({"url": url}), context)
        found = verdict(mode, review, tool.read_only, tmp_path, (), said=said)
        assert isinstance(found, Ask | Allowed)
        return isinstance(found, Ask)

    assert asks("https://docs.example/a")
    assert not asks("https://docs.example/b", "https://docs.example")
    assert asks("https://docs.example.evil/b", "https://docs.example")
    assert asks("http://docs.example/b", "https://docs.example")
    assert not asks("https://docs.python.org/3/")

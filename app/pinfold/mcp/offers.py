"""What a server offers, as plain values with their hashes."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from pinfold.ports.servers import PromptArgument, ServerPrompt, ServerResource, ServerTool
from pinfold.ports.tool import ToolError

if TYPE_CHECKING:
    from mcp import Client

MOST_PAGES = 20
MOST = 1_000
"""Tools, prompts or resources of one server."""
MOST_BYTES = 2_000_000
"""Of all its texts together: the user is to read them."""


class Offer(Struct, frozen=True):
    """All texts of a server. Data, as it came."""

    tools: tuple[ServerTool, ...] = ()
    instructions: str = ""
    prompts: tuple[ServerPrompt, ...] = ()
    resources: tuple[ServerResource, ...] = ()

    @property
    def hash(self) -> str:
        return digest(msgspec.to_builtins(self))


def digest(value: Any) -> str:
    """SHA-256 of plain values, which does not depend on the order of keys."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


async def offer_of(name: str, client: "Client") -> Offer:
    """Ask a server for everything that it offers. Raises what the SDK does, and `ToolError`."""
    has = client.server_capabilities
    tools: list[ServerTool] = []
    prompts: list[ServerPrompt] = []
    resources: list[ServerResource] = []
    if has.tools:
        tools = [_tool(name, one) for one in await _all(client.list_tools, "tools")]
    if has.prompts:
        prompts = [_prompt(one) for one in await _all(client.list_prompts, "prompts")]
    if has.resources:
        listed = await _all(client.list_resources, "resources")
        resources = [_resource(one, one.uri) for one in listed]
        resources += await _templates(client)
    offer = Offer(tuple(tools), client.instructions or "", tuple(prompts), tuple(resources))
    if len(msgspec.json.encode(offer)) > MOST_BYTES:
        raise ToolError(f"what it offers has more than {MOST_BYTES // 1_000_000} MB")
    return offer


async def _templates(client: "Client") -> list[ServerResource]:
    from mcp import MCPError

    try:
        listed = await _all(client.list_resource_templates, "resource_templates")
    except MCPError:  # not every server with resources knows them
        return []
    return [_resource(one, one.uri_template, template=True) for one in listed]


def _resource(one: Any, uri: str, *, template: bool = False) -> ServerResource:
    title, description = one.title or "", one.description or ""
    return ServerResource(uri, one.name, title, description, one.mime_type or "", template)


async def _all(fetch: Callable[..., Awaitable[Any]], field: str) -> Sequence[Any]:
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await fetch(cursor=cursor)
        found += getattr(page, field)
        cursor = page.next_cursor
        if len(found) > MOST:
            raise ToolError(f"it offers more than {MOST:,} {field.replace('_', ' ')}")
        if not cursor:
            return found
    raise ToolError(f"its list of {field.replace('_', ' ')} has more than {MOST_PAGES} pages")


def _tool(server: str, one: Any) -> ServerTool:
    said = one.annotations
    tool = ServerTool(
        server,
        one.name,
        one.title or "",
        one.description or "",
        one.input_schema,
        said.model_dump(by_alias=True, mode="json", exclude_none=True) if said else {},
    )
    return replace(tool, hash=digest(asdict(tool)))


def _prompt(one: Any) -> ServerPrompt:
    arguments = tuple(
        PromptArgument(each.name, each.description or "", bool(each.required))
        for each in one.arguments or ()
    )
    return ServerPrompt(one.name, one.title or "", one.description or "", arguments)

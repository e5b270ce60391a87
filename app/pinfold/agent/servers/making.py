"""Makes the servers of a session."""

import asyncio
from collections.abc import Callable

from pinfold.agent.calls.approvals import Consent
from pinfold.agent.options import Options
from pinfold.agent.record import Record
from pinfold.agent.servers.in_session import SessionServers
from pinfold.agent.servers.listing import Listing
from pinfold.ports.provider import ModelInfo
from pinfold.ports.servers import Servers, ServerState
from pinfold.settings import WireApi


async def servers_of(
    record: Record,
    options: Options,
    model: Callable[[], ModelInfo],
    wire_api: Callable[[], WireApi],
    consent: Consent,
    busy: Callable[[], bool],
) -> SessionServers | None:
    """None where none is configured."""
    servers = options.servers
    if servers is None or not servers.names():
        return None
    known = await asyncio.to_thread(_known, servers)
    listing = Listing(record, servers, known, model, wire_api, options.servers_budget)
    return SessionServers(record, servers, listing, lambda: consent.mode, busy)


def _known(servers: Servers) -> dict[str, ServerState]:
    found = ((name, servers.known(name)) for name in servers.names())
    return {name: state for name, state in found if state is not None}

"""The parts of a session."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.agent.calls.approvals import Consent
from pinfold.agent.calls.background import Background
from pinfold.agent.calls.confinement import Confinement
from pinfold.agent.calls.toolbox import Toolbox
from pinfold.agent.checkpoint_file import CheckpointFile
from pinfold.agent.children.children import Children
from pinfold.agent.children.races import Races
from pinfold.agent.compaction.automatic import AutoCompaction
from pinfold.agent.compaction.compacting import Compacting
from pinfold.agent.compaction.preparing import Preparing
from pinfold.agent.compaction.summarizing import Summarizing
from pinfold.agent.context.front import Front
from pinfold.agent.context.skills import Skills
from pinfold.agent.files import Files
from pinfold.agent.hooks import Hooks
from pinfold.agent.options import Limits
from pinfold.agent.record import Record
from pinfold.agent.requests.learning import Learning
from pinfold.agent.requests.model_choice import ModelChoice
from pinfold.agent.requests.prewarm import Prewarm
from pinfold.agent.requests.request import Requester
from pinfold.agent.requests.server_count import ServerCount
from pinfold.agent.steering.steering import Steering
from pinfold.agent.turn.work import Work
from pinfold.ports.clock import Clock
from pinfold.tokens.prices import Price
from pinfold.window.reading import GaugeReading

if TYPE_CHECKING:
    from pinfold.agent.servers.in_session import SessionServers


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session is made of; `builder.build` puts it together."""

    record: Record
    requester: Requester
    cwd: Path
    clock: Clock
    prices: Mapping[str, Price]
    choice: ModelChoice
    limits: Limits
    consent: Consent
    confinement: Confinement
    toolbox: Toolbox
    background: Background
    children: Children
    races: Races
    servers: "SessionServers | None"
    """None where none is configured."""
    files: Files
    hooks: Hooks
    summarizing: Summarizing
    compaction: Compacting
    preparing: Preparing
    triggers: AutoCompaction
    reading: Callable[[], GaugeReading]
    learning: Learning
    front: Front
    skills: Skills
    work: Work
    prewarm: Prewarm
    checkpoint_file: CheckpointFile
    server_count: ServerCount
    window: Steering
    found: tuple[str, ...]
    """How the session was found, in sentences for the user."""
    left_at: str
    opened_after: int

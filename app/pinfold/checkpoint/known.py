"""All that is folded from a rollout beside its window."""

from pinfold.checkpoint.core import Core
from pinfold.checkpoint.files import FileStates
from pinfold.checkpoint.model import CheckpointV1
from pinfold.checkpoint.named import Named
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.checkpoint.sources import Sources
from pinfold.digests.record import DigestRecord
from pinfold.rollout.events import Event


class Known:
    """A projection: the checkpoint, the core, the digest's lines, files, sources, names."""

    def __init__(self) -> None:
        self.state = CheckpointState()
        self.core = Core()
        self.record = DigestRecord()
        self.files = FileStates()
        self.sources = Sources()
        self.named = Named()

    def step(self, event: Event) -> None:
        for projection in (
            self.state,
            self.core,
            self.record,
            self.files,
            self.sources,
            self.named,
        ):
            projection.step(event)

    @property
    def checkpoint(self) -> CheckpointV1:
        return self.state.snapshot()

    @property
    def cwd(self) -> str:
        return self.state.cwd

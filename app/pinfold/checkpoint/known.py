"""All that is folded from a rollout beside its window."""

from collections.abc import Iterable

from pinfold.checkpoint.core import Core
from pinfold.checkpoint.files import FileStates
from pinfold.checkpoint.model import CheckpointV1
from pinfold.checkpoint.named import Named
from pinfold.checkpoint.reduce import CheckpointState
from pinfold.digests.record import DigestRecord
from pinfold.rollout.events import Event


class Known:
    """A projection: the checkpoint, the core, the digest's lines, files and names."""

    def __init__(self) -> None:
        self.state = CheckpointState()
        self.core = Core()
        self.record = DigestRecord()
        self.files = FileStates()
        self.named = Named()

    def step(self, event: Event) -> None:
        for projection in (
            self.state,
            self.core,
            self.record,
            self.files,
            self.named,
        ):
            projection.step(event)

    @property
    def checkpoint(self) -> CheckpointV1:
        return self.state.snapshot()

    @property
    def cwd(self) -> str:
        return self.state.cwd

    def unnamed(self, uris: Iterable[str]) -> list[str]:
        """Of the files, those that neither the goal, the task, open steps, the core nor what was
        read, edited or found since the user's last request names. Paths are as the journal has
        them."""
        checkpoint, plan = self.checkpoint, self.checkpoint.plan
        texts = [self.core.goal or self.core.first_request]
        texts += [statement.text for statement in self.core.stated()]
        texts += [checkpoint.task.text] if checkpoint.task else []
        texts += [step.text for step in plan.steps if not plan.done.get(step.id)]
        return self.named.others(uris, texts)

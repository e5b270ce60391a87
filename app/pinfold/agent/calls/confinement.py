"""Where the commands of a session run, by its approval mode, and what the model learns of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from msgspec.structs import replace

from pinfold.agent.context.approvals_text import approvals_text, window_text
from pinfold.agent.context.telling import Telling, tell
from pinfold.agent.record import Record
from pinfold.ports.provider import ModelInfo
from pinfold.ports.tool import Sandbox
from pinfold.rollout.items import SANDBOX
from pinfold.settings import Mode
from pinfold.tools.sandbox.denied import Way


@dataclass(eq=False)
class Confinement:
    """The session's sandbox."""

    _sandbox: Sandbox | None
    _missing: str
    """Why there is none; empty tells the model nothing at all."""
    _model: Callable[[], ModelInfo]

    @property
    def missing(self) -> str:
        """Why there is no sandbox in any mode; empty if there is one."""
        return "" if self._sandbox else self._missing

    @property
    def roots(self) -> tuple[Path, ...]:
        """Folders to work in besides the workspace."""
        return self._sandbox.roots[1:] if self._sandbox else ()

    def of(self, mode: Mode, way: Way | None = None) -> Sandbox | None:
        """The sandbox of a command; `way` is what the user allowed it beyond that."""
        if self._sandbox is None or mode == "full" or way == "outside":
            return None
        network = self._sandbox.network or way == "network"
        return replace(self._sandbox, writes=mode != "read-only", network=network)

    def words(self, mode: Mode) -> str:
        """What the model is told."""
        if not self._missing and self._sandbox is None:
            return ""
        return approvals_text(mode, self.of(mode))

    def clear(self) -> None:
        """Remove the sandbox's temporary files and caches. Blocking."""
        if self._sandbox is not None:
            for name in ("tmp", "cache"):
                rmtree(self._sandbox.scratch / name, ignore_errors=True)

    async def tell(self, record: Record, mode: Mode) -> None:
        """Tell the model where it does not know it yet (`telling.tell`). Raises `JournalError`."""
        if words := self.words(mode):
            about = window_text(self._model().context_window)
            await tell(record, Telling(SANDBOX, f"{words} {about}"))

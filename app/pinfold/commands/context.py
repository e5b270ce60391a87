"""What commands act on: a session, the outside of it, and the screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar

# Only names of types: a first paint has no use for the modules behind them.
if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pinfold.agent.session import Session
    from pinfold.compaction.view import PlanOptions
    from pinfold.memories.keeper import Keeper
    from pinfold.ports import Approver
    from pinfold.rollout.texts import Exchange

Answer = TypeVar("Answer")
Level = Literal["info", "warning", "error"]


Start: TypeAlias = "Callable[[Approver], Awaitable[Session]]"
"""Opens a session. Raises what `failures.EXPECTED` lists."""


class SessionLine(Protocol):
    """A session as a list shows it."""

    @property
    def id(self) -> str: ...
    @property
    def cwd(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def turns(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def folder(self) -> Path: ...
    @property
    def updated_at(self) -> datetime: ...
    @property
    def note(self) -> str: ...
    @property
    def held(self) -> bool:
        """Whether a pinfold has it open."""
        ...


class ForeignLine(Protocol):
    """A session of another tool as a list shows it."""

    @property
    def tool(self) -> str: ...
    @property
    def file(self) -> Path: ...
    @property
    def title(self) -> str: ...
    @property
    def cwd(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def used(self) -> int: ...
    @property
    def full(self) -> float | None: ...
    @property
    def size(self) -> int: ...
    @property
    def updated_at(self) -> datetime: ...
    @property
    def note(self) -> str: ...


class TextsPort(Protocol):
    """What was said in all sessions (see `rollout.texts.Texts`)."""

    def fill(self, folders: Sequence[Path]) -> Iterator[int]: ...
    def search(self, query: str) -> Mapping[str, str]: ...
    def exchange(self, folder: Path) -> Exchange | None: ...


class MemoriesPort(Protocol):
    """What earlier sessions learned."""

    @property
    def enabled(self) -> bool: ...
    @property
    def keeper(self) -> Keeper: ...

    async def run(self, but: Collection[str] = ()) -> str:
        """Make memories now of the sessions that have changed, except `but`; what came of it."""
        ...

    def switch(self, *, on: bool) -> str:
        """Switch them on or off in the user's settings. Raises `SettingsError`."""
        ...


class Host(Protocol):
    """What lies outside a session. What is not `async` blocks: call it in a thread."""

    @property
    def warnings(self) -> Sequence[str]:
        """What to say of the settings of the session that was opened last."""
        ...

    async def new(self, approver: Approver) -> Session: ...
    async def resume(self, session_id: str, approver: Approver) -> Session:
        """The session with this id; read-only where another pinfold has it open."""
        ...

    async def fork(self, folder: Path, at: int | None, approver: Approver) -> Session:
        """A copy of the session in `folder` through item `at`; None copies all of it."""
        ...

    async def fork_window(self, folder: Path, generation: int, approver: Approver) -> Session:
        """A copy that goes on in the window of that generation."""
        ...

    async def hand_on(
        self, folder: Path, strategy: str | None, model: str | None, approver: Approver
    ) -> Session:
        """A compacted copy, on `model` where one is named. Raises `Refused`."""
        ...

    async def rewind(self, folder: Path, prompt: int, approver: Approver) -> Session:
        """A copy of the session in `folder` up to before `prompt`."""
        ...

    async def close(self, session: Session) -> None: ...

    def sessions(self) -> Sequence[SessionLine]:
        """Newest first."""
        ...

    @property
    def texts(self) -> TextsPort: ...

    def adoptable(self) -> Iterator[ForeignLine]:
        """The sessions of other tools here, newest first, each as soon as it is read."""
        ...

    def adopt(self, file: Path, *, its_folder: bool = False) -> tuple[str, str]:
        """Copy another tool's session into one of ours; its id, and what was adopted, in a line.

        It works here, or with `its_folder` in the folder that it names, if that exists.
        Raises `NotASession`, `JournalError`.
        """
        ...

    def save_compact(self, strategy: str, options: PlanOptions) -> str:
        """Make them the user's defaults; how, in a sentence. Raises `SettingsError`."""
        ...

    def doctor(self) -> str:
        """What was found and what is missing, as lines for people."""
        ...

    @property
    def memories(self) -> MemoriesPort: ...

    def trust(self) -> str:
        """Trust the working directory; what that changes, in one sentence."""
        ...


class Context(Protocol):
    """What a command may do."""

    @property
    def session(self) -> Session:
        """Raises `CommandError` while there is none yet."""
        ...

    @property
    def host(self) -> Host: ...
    @property
    def themes(self) -> Sequence[str]: ...

    def tell(self, text: str, level: Level = "info") -> None:
        """A message in the transcript that is not part of the window."""
        ...

    def preview(self, strategy: str, options: PlanOptions) -> None:
        """Show the next window before it is made."""
        ...

    def open(self, panel: str, argument: str = "") -> None:
        """Put a panel on top; what the argument means is the panel's."""
        ...

    def find(self, text: str) -> None:
        """Look for `text` in the transcript; without one, ask for it."""
        ...

    def set_theme(self, name: str) -> None: ...
    def copy(self, text: str) -> None: ...
    async def edit_prompt(self) -> None:
        """The prompt's text in the user's own editor."""
        ...

    def put(self, text: str, pasted: Sequence[str] = ()) -> None:
        """Put `text` into the prompt, before what stands there; `pasted` was not typed."""
        ...

    async def switch(self, start: Start) -> None:
        """Go on with another session. Where it can't be opened, the old one stays."""
        ...

    async def suspend_job(self) -> None:
        """Stop, and give the terminal back to the shell, until that continues us."""
        ...

    async def quit(self) -> None: ...

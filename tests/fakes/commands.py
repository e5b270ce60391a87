"""What commands act on, without a screen."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fakes.host import FakeHost
from fakes.live_session import LiveSession, live_session
from pinfold.commands import registry
from pinfold.commands.context import Level, Start
from pinfold.compaction.view import PlanOptions
from pinfold.ports.approver import Decision, Question


async def never(_: Question) -> Decision:
    raise AssertionError


@dataclass
class FakeContext:
    """Remembers what commands told and did."""

    session: LiveSession = field(default_factory=live_session)
    host: FakeHost = field(default_factory=FakeHost)
    themes: Sequence[str] = ("pinfold", "tide")
    told: list[str] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    search: str = ""
    theme: str = "pinfold"
    copied: str = ""
    left: bool = False
    edited: bool = False
    suspended: bool = False
    prompt: str = ""
    pasted: Sequence[str] = ()
    previewed: tuple[str, PlanOptions] | None = None

    def tell(self, text: str, level: Level = "info") -> None:
        self.told.append(text)
        self.levels.append(level)

    def open(self, panel: str, argument: str = "") -> None:
        self.opened.append(panel)
        self.search = argument

    def set_theme(self, name: str) -> None:
        self.theme = name

    def use_statusline(self, command: str) -> None:
        self.statusline: str | None = command

    def insert(self, text: str) -> None:
        self.inserted = text

    def copy(self, text: str) -> None:
        self.copied = text

    def find(self, text: str) -> None:
        self.search = text

    def preview(self, strategy: str, options: PlanOptions) -> None:
        self.previewed = (strategy, options)

    async def edit_prompt(self) -> None:
        self.edited = True

    def put(self, text: str, pasted: Sequence[str] = ()) -> None:
        self.prompt, self.pasted = text, pasted

    async def switch(self, start: Start) -> None:
        await start(never)

    async def suspend_job(self) -> None:
        self.suspended = True

    async def quit(self) -> None:
        self.left = True


async def run(context: FakeContext, text: str) -> None:
    """Carry out a `/command`."""
    parsed = registry.parse(text)
    assert parsed is not None
    action, argument = parsed
    await action.carry_out(context, argument)

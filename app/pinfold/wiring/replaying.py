"""Plays a recorded session: sends nothing, runs no tool, keeps nothing."""

import asyncio
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import structs

from pinfold import paths
from pinfold.agent.playback.rounds import Round, lines
from pinfold.agent.requests.connection import Connection
from pinfold.agent.session import Session
from pinfold.agent.updates import Told, Update
from pinfold.compaction.strategies.registry import registry
from pinfold.headless import no_terminal
from pinfold.host.adopting import read
from pinfold.host.app_context import AppContext, WrongUse
from pinfold.host.sessions import new_journal, open_session
from pinfold.output import print_json, warn
from pinfold.ports.approver import Approver
from pinfold.providers.silent import Silent
from pinfold.settings import HookSettings, strategy_named
from pinfold.tokens.counter import Counter
from pinfold.wiring.sources import model_of, wire_api_of


def demo_file() -> Path:
    """The recording that ships with pinfold."""
    return Path(str(files("pinfold") / "demo" / "rollout.jsonl"))


class Player:
    """Plays a recording of any tool in a session."""

    def __init__(
        self,
        ctx: AppContext,
        file: Path,
        speed: float,
        index: int = 0,
        *,
        strategy: str | None = None,
        threshold: float | None = None,
    ) -> None:
        """Read the recording. With a strategy or a threshold (a share of the usable window), it
        is compacted by these instead of as recorded; the one not given comes from the settings.

        Raises `NotASession`, `JournalError`, and `WrongUse` if there is no such strategy or it
        needs a model.
        """
        before = ctx.settings.compact
        mode = strategy_named(strategy or before.mode)
        self._events = read(file, index).events
        self._speed = speed
        self._own = strategy is not None or threshold is not None
        if self._own:
            _check(mode)
        self._kept = TemporaryDirectory(prefix="pinfold-replay-")
        self._note = f"Playing {file.name}: no model is called and no tool runs."
        self.title = "Compactions as they were recorded:"
        # No hook or background work runs, and requests go to a model that never answers.
        compact = structs.replace(before, model=None, context_window=None, prepare=False)
        if self._own:
            compact = structs.replace(
                compact,
                auto="auto",
                mode=mode,
                auto_compact_threshold_pct=threshold or before.auto_compact_threshold_pct,
            )
            share = f"{compact.auto_compact_threshold_pct:.0%} of the usable window"
            self.title = f"Compactions by {compact.mode} at {share}:"
        settings = structs.replace(
            ctx.settings,
            compact=compact,
            agent=structs.replace(ctx.settings.agent, prewarm=False),
            hooks=HookSettings(),
        )
        loaded = structs.replace(ctx.loaded, settings=settings)
        self._ctx = structs.replace(ctx, loaded=loaded, sessions=Path(self._kept.name))
        self.session: Session | None = None
        """Once it is started."""

    async def start(self, approver: Approver) -> Session:
        """The session; the recording begins to play."""
        model = model_of(self._ctx, self._events)
        counter = Counter(model.encoding, paths.cache_folder())
        if self._own:  # when it compacts must not depend on when the tokenizer is loaded
            await asyncio.to_thread(counter.load)
        connection = Connection(Silent(), model, wire_api_of(self._ctx, model.provider), self._note)
        self.session = await open_session(
            self._ctx,
            approver,
            lambda: new_journal(self._ctx, "replay"),
            connection=connection,
            tools=(),
            counter=counter,
        )
        self.session.play(self._events, self._speed, own=self._own)
        return self.session

    @property
    def rounds(self) -> Sequence[Round]:
        """The compactions so far."""
        return self.session.rounds if self.session is not None else ()

    def table(self) -> Iterator[str]:
        """The compactions as lines."""
        yield self.title
        yield from lines(self.rounds)

    def close(self) -> None:
        """Remove its temporary files."""
        self._kept.cleanup()


def _check(strategy: str) -> None:
    """Raises `WrongUse` if a recording can't be compacted with `strategy`."""
    known = registry().strategies
    if strategy not in known:
        raise WrongUse(f"there is no strategy {strategy}; there are: {', '.join(known)}")
    if known[strategy].needs_model:
        free = ", ".join(name for name, other in known.items() if not other.needs_model)
        raise WrongUse(
            f"{strategy} needs a model, and a replay calls none; --strategy takes: {free}"
        )


async def play_unseen(player: Player, *, as_json: bool) -> int:
    """Play without a screen, then print the compactions. Returns the exit code."""
    session = await player.start(no_terminal)
    failed = False

    def hear(update: Update) -> None:
        nonlocal failed
        if isinstance(update, Told) and update.level != "info":
            failed = failed or update.level == "error"
            warn(update.text)

    session.subscribe(hear)
    try:
        await session.idle()
    finally:
        await session.close()
    if as_json:
        for compaction in player.rounds:
            print_json(compaction)
    else:
        print("\n".join(player.table()))
    return 1 if failed else 0

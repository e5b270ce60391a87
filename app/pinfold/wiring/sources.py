"""Sessions and files that commands read, as events."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pinfold import paths
from pinfold.adopt.adoption import HALF_WRITTEN, Adoption
from pinfold.agent.children.child import result_of
from pinfold.agent.clock import CLOCK
from pinfold.agent.projections import Projections
from pinfold.host.adopting import read
from pinfold.host.app_context import AppContext, WrongUse
from pinfold.host.model_used import is_once, last_used, model_used
from pinfold.host.prices import prices
from pinfold.host.sessions import folder_of
from pinfold.host.vault import file_of
from pinfold.output import warn
from pinfold.ports.provider import ModelInfo
from pinfold.rollout import codec
from pinfold.rollout.events import Event, ModelChanged
from pinfold.rollout.journal import Journal, JournalError
from pinfold.settings import WireApi
from pinfold.tokens.counter import Counter
from pinfold.window.overview import Overview, overview
from pinfold.window.reading import GaugeReading
from pinfold.wire.wires import default_api


@dataclass(frozen=True, slots=True)
class SessionSource:
    """A session to read: one of pinfold's in its folder, or one read from a file."""

    name: str
    """Its id, or the file's name as the user wrote it."""
    at: Path | Adoption

    def events(self) -> Iterator[Event]:
        """All events, oldest first. Raises `JournalError`."""
        if isinstance(self.at, Adoption):
            yield from self.at.events
            return
        with Journal.open(self.at, CLOCK.now, read_only=True) as journal:
            yield from journal.read()

    def lines(self) -> Iterator[bytes]:
        """The lines of its rollout, pictures included. Raises `JournalError`."""
        if isinstance(self.at, Adoption):
            yield from (codec.written(event)[1] for event in self.at.events)
            return
        with Journal.open(self.at, CLOCK.now, read_only=True) as journal:
            yield from journal.whole_lines()


def find(ctx: AppContext, arguments: argparse.Namespace) -> SessionSource:
    """What `SESSION|FILE` or `--last` names; warns of a file that is cut off.

    Raises `WrongUse`, `NotASession`, `JournalError`.
    """
    name: str | None = arguments.source
    if (name is None) != arguments.last:
        raise WrongUse("name a session or a file, or use --last")
    if name is not None and paths.is_file_name(name):
        adoption = read(paths.typed(name), arguments.index)
        if HALF_WRITTEN in adoption.notes:
            warn(f"{name}: {HALF_WRITTEN}")
        return SessionSource(name, adoption)
    try:
        folder = folder_of(ctx, name)
    except JournalError:
        kept = file_of(ctx, name) if name else None
        if kept is None:
            raise
        return SessionSource(str(name), read(kept, arguments.index))
    return SessionSource(folder.name, folder)


class Folded:
    """A source at its end: state, window and gauge, counted exactly."""

    def __init__(self, ctx: AppContext, source: SessionSource, model: str | None = None) -> None:
        """Windows and tokens are those of `model`; by default, the last one used.

        Raises `JournalError`.
        """
        every = tuple(source.events())
        used = last_used(every)
        self.model = model_of(ctx, every, model)
        counter = Counter(self.model.encoding, paths.cache_folder())
        counter.load()
        projections = Projections(counter, wire_api_of(ctx, self.model.provider))
        for event in every:
            projections.step(event)
        if used is None or (used.provider, used.model) != (self.model.provider, self.model.name):
            projections.step(Event(projections.seq + 1, CLOCK.now(), self._changed()))
        projections.gauge.catch_up()
        self.projections = projections
        self._settings = ctx.settings

    def _changed(self) -> ModelChanged:
        """The event of a switch to the model."""
        model = self.model
        return ModelChanged(
            provider=model.provider,
            model=model.name,
            context_window=model.context_window,
            window_source=model.window_source,
        )

    def reading(self) -> GaugeReading:
        """The gauge at the end."""
        compact = self._settings.compact
        threshold = None if compact.auto == "off" else compact.auto_compact_threshold_pct
        return self.projections.gauge.reading(self.model, threshold, prices(self._settings))

    def overview(self) -> Overview:
        """The window at the end, item by item."""
        held = self.projections
        return overview(held.window, held.gauge, self.reading(), partial(result_of, held.state))


def model_of(ctx: AppContext, events: Sequence[Event], asked: str | None = None) -> ModelInfo:
    """The model asked for, else the last one used, else that of the settings."""
    return model_used(ctx.settings.model, events, asked, once=is_once(ctx))


def wire_api_of(ctx: AppContext, provider: str) -> WireApi:
    """The provider's API: from the settings, else by its name."""
    configured = ctx.settings.providers.get(provider)
    if configured is not None and configured.wire_api is not None:
        return configured.wire_api
    return default_api(openai=provider == "openai")

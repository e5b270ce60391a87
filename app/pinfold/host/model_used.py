"""The model that windows and tokens of a session are shown for."""

from collections.abc import Sequence
from typing import get_args

from pinfold.host.app_context import AppContext
from pinfold.ports.provider import ModelInfo, WindowSource
from pinfold.rollout.events import Event, ModelChanged
from pinfold.settings import ModelSettings
from pinfold.tokens.catalog import look_up

_SOURCES: tuple[WindowSource, ...] = get_args(WindowSource)


def last_used(events: Sequence[Event]) -> ModelChanged | None:
    changes = (event.data for event in reversed(events) if isinstance(event.data, ModelChanged))
    return next(changes, None)


def is_once(ctx: AppContext) -> bool:
    """Whether a flag or variable sets the context window, not a file beside a model's name."""
    return ctx.loaded.origins.get("model.context_window") in ("a flag", "the environment")


def model_used(
    settings: ModelSettings, events: Sequence[Event], asked: str | None = None, *, once: bool
) -> ModelInfo:
    """The model asked for, else the last one used, else that of the settings."""

    def override(model: str) -> int | None:
        return settings.context_window if once or (settings.name or "") == model else None

    used = last_used(events)
    if asked is None and used is not None:
        entry = look_up(used.model)
        window = used.context_window
        said = (origin for origin in _SOURCES if origin == used.window_source)
        source: WindowSource = next(said, "assumed")
        larger = override(used.model)
        if larger is not None and not (source == "learned" and window < larger):
            window, source = larger, "config"
        return ModelInfo(
            used.model, used.provider, window, source, entry.max_output, encoding=entry.encoding
        )
    name = asked or settings.name or ""
    entry = look_up(name)
    given = override(name)
    return ModelInfo(
        name,
        settings.provider or (used.provider if used else ""),
        given or entry.context_window,
        "config" if given else "table" if entry.known else "assumed",
        settings.max_output or entry.max_output,
        encoding=entry.encoding,
    )

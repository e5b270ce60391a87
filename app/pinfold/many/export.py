"""A session as a document."""

from collections.abc import Sequence
from typing import Any

import msgspec

from pinfold.adopt import detect
from pinfold.agent.state import State
from pinfold.commands.export import Wish, document, opening
from pinfold.export.transcript import ExportedItem, ExportedSession
from pinfold.host.model_used import model_used
from pinfold.ports.provider import ModelInfo
from pinfold.rollout import codec
from pinfold.rollout.events import Event, SessionStarted
from pinfold.settings import ModelSettings
from pinfold.window.window import Window


def result(data: bytes, name: str, settings: dict[str, Any]) -> bytes:
    """Settings: `format`, `scope`, `index`, `model` (the `[model]` section) and `once` (whether its
    window holds for this run only). Raises `NotASession`, `CommandError`, `OSError`."""
    adoption = detect.read_bytes(data, name, settings["index"])
    model = model_used(
        msgspec.convert(settings["model"], ModelSettings), adoption.events, once=settings["once"]
    )
    own = adoption.tool == "pinfold"
    lines = data.splitlines() if own else [codec.written(event)[1] for event in adoption.events]
    wish = Wish(settings["format"], scope=settings["scope"], redact=False)
    return document(wish, transcript(adoption.events, model), lines).content


def transcript(events: Sequence[Event], model: ModelInfo) -> ExportedSession:
    window, state = Window(), State()
    for event in events:
        window.step(event)
        state.step(event)
    started = (event.data.cwd for event in events if isinstance(event.data, SessionStarted))
    archive = window.archive
    items = [archive[n] for n in archive]
    return ExportedSession(
        opening=opening(items),
        session=state.id,
        cwd=next(started, ""),
        model=model,
        context=state.context.context,
        entries=[
            ExportedItem(item, archive.at(item.n), window.form(item.n), window.is_pinned(item.n))
            for item in items
        ],
        window=window.items,
        boundaries=tuple(window.boundaries),
    )

"""A session with a window worth compacting."""

from fakes.compactions import working
from fakes.session import FakeSession
from pinfold.ports import ModelInfo
from pinfold.rollout.events import Context, ContextSet, ItemAdded


def model(context_window: int = 16_000) -> ModelInfo:
    """A model of that size."""
    return ModelInfo("small", "p", context_window, "table", max_output=2_000)


def make_session(turns: int = 12, on: ModelInfo | None = None) -> FakeSession:
    """A session of so many turns of eight items."""
    session = FakeSession(gauge=None)
    session.model = on or model()
    session.append(ContextSet(hash="h", context=Context(instructions="You are pinfold.")))
    for data in working(turns):
        session.append(data.item if isinstance(data, ItemAdded) else data)
    return session

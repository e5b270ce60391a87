"""A session with a window worth compacting."""

from fakes.compactions import working
from fakes.session import FakeSession
from pinfold.ports import ModelInfo
from pinfold.rollout.events import Context, ContextSet, ItemAdded

MODEL = ModelInfo("small", "p", 16_000, "table", max_output=2_000)


def make_session(turns: int = 12, model: ModelInfo = MODEL) -> FakeSession:
    """A session of so many turns of eight items."""
    session = FakeSession(gauge=None)
    session.model = model
    session.append(ContextSet(hash="h", context=Context(instructions="You are pinfold.")))
    for data in working(turns):
        session.append(data.item if isinstance(data, ItemAdded) else data)
    return session

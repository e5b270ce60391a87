"""A provider and the model that it serves."""

from dataclasses import dataclass, replace

from msgspec import structs

from pinfold.agent.requests.learned_windows import ModelPlace, narrowed, place_of
from pinfold.ports.provider import ModelInfo, Provider
from pinfold.settings import WireApi


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider and the model that it serves."""

    provider: Provider
    model: ModelInfo
    wire_api: WireApi
    note: str
    """Why this model, and how to change it."""
    base_url: str = ""
    """Where the model is served."""
    reported: int | None = None
    """The context window that its server reports."""
    unlearned: ModelInfo | None = None
    """The model with the window that it would have, where a learned one has taken its place."""
    lent: bool = False
    """Whether another session closes the provider."""

    @property
    def place(self) -> ModelPlace:
        return place_of(self.model.provider, self.base_url, self.model.name)

    def learned(self, window: int) -> "Connection":
        """The same with a context window that refused requests taught."""
        unlearned = self.unlearned or self.model
        return replace(self, model=narrowed(self.model, window), unlearned=unlearned)

    def forgotten(self) -> "Connection":
        """The same with the window that it has without what was learned."""
        return replace(self, model=self.unlearned or self.model, unlearned=None)

    async def close(self) -> None:
        if not self.lent:
            await self.provider.close()

    def within(self, window: int | None) -> "Connection":
        """The same with a context window of so many tokens, where that is given; a learned one
        is not widened."""
        if window is None or (self.unlearned is not None and window >= self.model.context_window):
            return self
        model = structs.replace(self.model, context_window=window, window_source="config")
        return replace(self, model=model)

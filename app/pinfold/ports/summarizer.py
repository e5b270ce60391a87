"""A model that writes summaries."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pinfold.ports.provider import Compacted, ModelInfo
from pinfold.rollout.items import Item


class Summarizer(Protocol):
    """A model that writes about what it is given to read."""

    @property
    def model(self) -> ModelInfo: ...

    def room(self, max_tokens: int) -> int:
        """Tokens that instructions and text may have, where the answer may have `max_tokens`."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text, with what the gauge has learned of this model."""
        ...

    async def __call__(
        self,
        instructions: str,
        text: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        """What the model answers; with `schema`, JSON that obeys it where the server can do that.

        It has waited and tried again where that could help. Raises `ContextOverflow`,
        `ProviderError`.
        """
        ...

    def conversation_room(self, items: Sequence[Item], instruction: str) -> int:
        """Tokens that an answer to `instruction` may have behind the live conversation, of which
        `items` are what is in the window; 0 where the model is not that of the session."""
        ...

    async def in_conversation(
        self, items: Sequence[Item], instruction: str, max_tokens: int
    ) -> str:
        """What the model answers to `instruction` behind the live conversation: a request as the
        session's own, so that the provider's prompt cache pays for the reading.

        Raises as a call does.
        """
        ...

    async def compacted(self, items: Sequence[Item]) -> Compacted:
        """The provider's own compaction of a window. Raises `RequestRejected`, `ProviderError`."""
        ...

    def step(self, name: str, done: float) -> None:
        """Report progress to the user; `done` is in [0, 1]."""
        ...

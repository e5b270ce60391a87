"""A scripted model that summarises: it answers what it is told to, and keeps what it was asked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from pinfold.ports.errors import RequestRejected
from pinfold.ports.provider import Compacted, ModelInfo
from pinfold.rollout.items import Item
from pinfold.tokens.counter import Counter

MODEL = ModelInfo("m", "p", 16_000, "config", 2_000)


class Asked(Struct, frozen=True):
    """One question to the model."""

    instructions: str
    text: str
    max_tokens: int
    schema: Mapping[str, Any] | None


class ScriptedSummarizer:
    """A `ports.Summarizer`; each question takes the next answer, or raises it.

    `room` is what instructions and text may have, whatever the answer takes; `live` is what an
    answer in the live conversation may have.
    """

    def __init__(
        self,
        answers: Iterable[str | Exception] = (),
        *,
        room: int = 10_000,
        live: int = 0,
        model: ModelInfo = MODEL,
        compacted: Compacted | Exception | None = None,
    ) -> None:
        self.answers = list(answers)
        self.asked: list[Asked] = []
        self.steps: list[tuple[str, float]] = []
        self._room = room
        self._live = live
        self.conversations: list[tuple[Item, ...]] = []
        """What stood before the questions that were asked in the live conversation."""
        self._model = model
        self._compacted = compacted
        self._counter = Counter("none")

    @property
    def model(self) -> ModelInfo:
        return self._model

    def room(self, max_tokens: int) -> int:
        return self._room

    def count(self, text: str) -> int:
        return self._counter.count(text)

    async def __call__(
        self,
        instructions: str,
        text: str,
        max_tokens: int,
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        self.asked.append(Asked(instructions, text, max_tokens, schema))
        if not self.answers:
            raise AssertionError("the script has no answer for this question")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def conversation_room(self, items: Sequence[Item], instruction: str) -> int:
        return self._live

    async def in_conversation(
        self, items: Sequence[Item], instruction: str, max_tokens: int
    ) -> str:
        self.conversations.append(tuple(items))
        return await self("", instruction, max_tokens)

    async def compacted(self, items: Sequence[Item]) -> Compacted:
        if isinstance(self._compacted, Compacted):
            return self._compacted
        raise self._compacted or RequestRejected("This server has no compaction endpoint.")

    def step(self, name: str, done: float) -> None:
        self.steps.append((name, done))

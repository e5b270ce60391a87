"""The limits of a turn, in steps and money, for the session and its agents together."""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from pinfold.agent.record import Record
from pinfold.agent.turn.ending import Ending
from pinfold.numbers import dollars
from pinfold.ports.approver import Approver, Question
from pinfold.ports.provider import ModelInfo
from pinfold.ports.tool import Review
from pinfold.rollout.values import Usage
from pinfold.tokens.prices import Price, Spend, cost, price_of


class Budget:
    """Counts all requests since the session's turn began, compactions included in their cost. Its
    agents share it."""

    def __init__(
        self,
        record: Record,
        prices: Mapping[str, Price],
        agents: Callable[[], Iterable[Spend]],
        most_steps: int,
        most_cost: float | None,
    ) -> None:
        """`agents` is the spend of those that work; `most_cost` is in US dollars, None is no
        limit."""
        self._record = record
        self._prices = prices
        self._agents = agents
        self._most_steps = most_steps
        self._most_cost = most_cost
        self._steps = 0
        self._allowed = most_steps
        self._refused = False
        self._asking = asyncio.Lock()
        self._before: Mapping[str, Usage] = {}

    def begin(self, record: Record) -> None:
        """A turn begins: the session's, or one of an agent that shares the budget."""
        if record is not self._record:
            return
        self._steps, self._allowed, self._refused = 0, self._most_steps, False
        self._before = self._spent().models

    async def step(self, model: ModelInfo, ask: Approver) -> Ending | None:
        """Count one more request to `model`; the ending if a limit allows none.

        At the limit of steps one of those that share it asks the user, for all of them.
        """
        async with self._asking:
            if self._steps >= self._allowed and not self._refused:
                review = Review("read", f"continue after {self._steps} steps in this turn")
                question = Question("", "", "", review, reason="the step limit is reached")
                if (await ask(question)).verdict in ("yes", "always"):
                    self._allowed += self._most_steps
                else:
                    self._refused = True
        if self._refused:
            return Ending("waiting", f"paused after {self._steps} steps", "steps")
        if why := self._too_dear(model):
            return Ending("waiting", why, "cost")
        self._steps += 1
        return None

    def _spent(self) -> Spend:
        spent = Spend(dict(self._record.gauge.spend.models))
        for agent in self._agents():
            spent.take(agent.models)
        return spent

    def _too_dear(self, model: ModelInfo) -> str:
        """Why no further request may go out, in a sentence; empty where one may."""
        if self._most_cost is None:
            return ""
        if price_of(model.provider, model.name, self._prices) is None:
            return f"a cost limit needs a price: none is known for {model.provider}/{model.name}"
        spent = 0.0
        for name, usage in self._spent().models.items():
            before = self._before.get(name, Usage())
            if usage == before:
                continue
            price = price_of(*name.partition("/")[::2], self._prices)
            if price is None:
                return f"a cost limit needs a price: none is known for {name}"
            spent += cost(usage, price) - cost(before, price)
        if spent < self._most_cost:
            return ""
        return f"the turn has cost {dollars(spent)}, and {dollars(self._most_cost)} is the limit"

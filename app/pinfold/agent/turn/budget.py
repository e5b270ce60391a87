"""What a turn may cost."""

from collections.abc import Callable, Mapping

from pinfold.agent.record import Record
from pinfold.numbers import dollars
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.values import Usage
from pinfold.tokens.prices import Price, cost, price_of


class Budget:
    """Watches the cost of all requests since the turn began, compactions included."""

    def __init__(
        self,
        record: Record,
        model: Callable[[], ModelInfo],
        prices: Mapping[str, Price],
        most: float | None,
    ) -> None:
        """`most` is in US dollars; None is no limit."""
        self._record = record
        self._model = model
        self._prices = prices
        self._most = most
        self._before: Mapping[str, Usage] = {}

    def begin(self) -> None:
        """A turn begins."""
        self._before = dict(self._record.gauge.spend.models)

    def ends_turn(self) -> str:
        """Why no further request may go out, in a sentence; empty where one may."""
        if self._most is None:
            return ""
        model = self._model()
        if price_of(model.provider, model.name, self._prices) is None:
            return f"a cost limit needs a price: none is known for {model.provider}/{model.name}"
        spent = 0.0
        for name, usage in self._record.gauge.spend.models.items():
            before = self._before.get(name, Usage())
            if usage == before:
                continue
            price = price_of(*name.partition("/")[::2], self._prices)
            if price is None:
                return f"a cost limit needs a price: none is known for {name}"
            spent += cost(usage, price) - cost(before, price)
        if spent < self._most:
            return ""
        return f"the turn has cost {dollars(spent)}, and {dollars(self._most)} is the limit"

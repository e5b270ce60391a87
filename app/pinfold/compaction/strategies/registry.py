"""The strategies by name: pinfold's own, and those of the entry-point group."""

from functools import cache
from importlib.metadata import entry_points

from msgspec import Struct

from pinfold.compaction.strategies.checkpoint import Checkpoint
from pinfold.compaction.strategies.handoff import Handoff
from pinfold.compaction.strategies.layered import Layered
from pinfold.compaction.strategies.prune import Prune
from pinfold.compaction.strategies.remote import Remote
from pinfold.compaction.strategies.snapshot import Snapshot
from pinfold.compaction.strategy import Strategy, Traits, traits_of

GROUP = "pinfold.strategies"


class Registry(Struct, frozen=True):
    strategies: dict[str, Strategy]
    broken: tuple[str, ...] = ()
    """A sentence about each that can't be loaded."""


def house() -> dict[str, Strategy]:
    """The strategies that come with pinfold."""
    own: tuple[Strategy, ...] = (
        Prune(),
        Checkpoint(),
        Snapshot(),
        Handoff(),
        Remote(),
        Layered(),
    )
    return {strategy.name: strategy for strategy in own}


@cache
def registry() -> Registry:
    """All strategies, looked for once."""
    return look()


def traits(name: str) -> Traits:
    """Of the strategy of that name, if there is one."""
    return traits_of(registry().strategies.get(name))


def look() -> Registry:
    """pinfold's strategies, and those of installed packages, which can't take their names."""
    strategies = house()
    broken: list[str] = []
    for point in entry_points(group=GROUP):
        try:
            strategy = point.load()()
            name = strategy.name
            usable = callable(strategy.plan) and callable(strategy.prepare)
        except Exception as error:
            broken.append(f"The strategy {point.name} can't be loaded: {error}")
            continue
        if not usable or name in strategies:
            broken.append(
                f"The strategy {point.name} is not a strategy, or its name is already taken."
            )
        else:
            strategies[name] = strategy
    return Registry(strategies, tuple(broken))

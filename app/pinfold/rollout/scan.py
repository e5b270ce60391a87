"""Reading a rollout for a few types of events alone."""

from collections.abc import Iterator

from pinfold.rollout import codec
from pinfold.rollout.events import NAMES, Data, Event
from pinfold.rollout.journal import Journal


def scan(journal: Journal, *types: type[Data]) -> Iterator[Event]:
    """The events of `types`, oldest first. The others are not decoded; damaged lines neither."""
    wanted = {NAMES[data_type] for data_type in types}
    for line in journal.lines():
        head = codec.header(line)
        if head is not None and head.type in wanted:
            yield codec.decode_leniently(line, head.seq, head.ts)

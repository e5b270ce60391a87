"""Paces a conversation: what matters, with filler and tool traffic between, up to a share of the
budget."""

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from pinfold.evaluation.filler import Filler, ToolUse, digest
from pinfold.evaluation.script import Count, Script
from pinfold.evaluation.templates import Chatter
from pinfold.evaluation.truth import Truth, Values
from pinfold.rollout.events import ArtifactObserved, Data
from pinfold.rollout.memory import Source

USER_SHARE = 3.1
"""Of the budget, that the user's text takes before the first compaction."""
LATER_SHARE = 1.1
"""The same, between two compactions."""

Beat = Callable[[], None]
"""Something that matters is said or done."""


@dataclass(frozen=True)
class Stretch:
    """What happens up to a compaction."""

    events: tuple[Data, ...]
    truth: Truth
    """At its end."""
    user_tokens: int


class Author(ABC):
    """Writes the stretches of one conversation, in their order."""

    def __init__(self, name: str, seed: int, chatter: Chatter, budget: int, count: Count) -> None:
        self._rng = Random(f"{name} {seed}")  # noqa: S311  not for secrets
        self._chatter = chatter
        self._filler = Filler(self._rng, chatter)
        self._values = Values(self._rng)
        self._script = Script(count)
        self._budget = budget

    @abstractmethod
    def beats(self, number: int) -> Iterator[Beat]:
        """What matters in a stretch."""

    @abstractmethod
    def truth(self) -> Truth:
        """What holds by now."""

    def stretch(self, number: int) -> Stretch:
        script = self._script
        script.begin()
        share = USER_SHARE if number == 0 else LATER_SHARE
        beats = deque(self.beats(number))
        every = len(beats)
        wanted = int(share * self._budget)
        while beats or script.user_tokens < wanted:
            due = every - len(beats) <= every * script.user_tokens / wanted
            if beats and due:
                beats.popleft()()
            else:
                self._fill()
        script.ask(self._rng.choice(self._chatter.last))
        script.say("", [ToolUse("list_dir", json.dumps({"path": "."}), "docs\nvendor\nexamples")])
        return Stretch(tuple(script.taken()), self.truth(), script.user_tokens)

    def write(self, path: str) -> None:
        """The agent creates a file."""
        seen = ArtifactObserved(uri=path, kind="file", op="create", hash=digest(self._rng))
        given = json.dumps({"path": path, "content": self._filler.code(8)})
        self._script.say("", [ToolUse("write_file", given, f"Wrote {path}, 8 lines.", seen)])

    def show(self, said: str, command: str, output: str) -> None:
        """The agent runs something; `output` stands amid other lines."""
        shown = f"{self._filler.code(6)}\n{output}\n{self._filler.code(6)}"
        self._script.say(said, [ToolUse("shell", json.dumps({"command": command}), shown)])

    def record(self, source: Source = "user", **proposal: object) -> None:
        """The agent records something for good, on the newest word of that source."""
        self._script.remember({**proposal, "evidence": {"source": source, "ref": "latest"}})
        self._script.say(self._filler.reply())

    def _fill(self) -> None:
        self._script.ask(self._filler.message())
        uses = [self._filler.use() for _ in range(self._rng.randrange(0, 3))]
        if uses:
            self._script.say("", uses)
        self._script.say(self._filler.reply())

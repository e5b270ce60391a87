"""The digest's lines, folded from the rollout."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from pinfold.digests import lines as of
from pinfold.digests.lines import DigestLine
from pinfold.digests.words import information
from pinfold.rollout.acts import act
from pinfold.rollout.events import (
    Event,
    ItemAdded,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    WindowReplaced,
)
from pinfold.rollout.items import Item
from pinfold.sanitize import clean_output


class TurnEnd(Struct, frozen=True):
    """How the last turn ended, and when; no state while it runs."""

    state: str
    at: datetime


class DigestRecord:
    """A projection. `step` only queues an event; its text is read when lines are asked for."""

    def __init__(self) -> None:
        self.seq = 0
        self.places = 0
        """Items so far."""
        self.first_request = 0
        """The first item with text that the user typed."""
        self.ended: TurnEnd | None = None
        self._unread: list[ItemAdded | SessionStarted | WindowReplaced] = []
        self._lines: list[DigestLine] = []
        self._current: list[DigestLine] | None = None
        """The last result of `lines`, until an event changes it."""
        self._times: Counter[str] = Counter()
        self._newest: dict[str, DigestLine] = {}
        self._calls: dict[tuple[int, str], Item] = {}
        self._cwd = ""
        self._reply: list[DigestLine] = []
        """The agent's last reply."""
        self._said = ""
        """The same as a text."""
        self._changed = ""
        """The last edit since the last prompt."""
        self._failing: dict[str, int] = {}
        """Commands whose newest run failed, each with its result."""
        self._rare_words: dict[str, int] = {}
        """The rare words of messages, each with the number of the first message that has it."""
        self._messages = 0
        """Messages of the user and the agent so far."""
        self._outputs: list[tuple[int, int, str, int]] = []
        """Results not searched yet: messages before, item, text and position."""

    def step(self, event: Event) -> None:
        self.seq = event.seq
        match event.data:
            case ItemAdded() | SessionStarted() | WindowReplaced(reason="rewind") as data:
                self._unread.append(data)
            case TurnStarted():
                self.ended = TurnEnd("", event.ts)
            case TurnFinished(state=state):
                self.ended = TurnEnd(state, event.ts)

    def failing(self) -> list[tuple[str, int]]:
        """Commands whose newest run failed, each with the item that says so."""
        self._read()
        return list(self._failing.items())

    def lines(self, *, found: bool = True) -> Sequence[DigestLine]:
        """All lines in order; of equal lines the newest. Without those `found` in results it takes
        half of the time."""
        self._read()
        if found:
            self._look_through()
        if self._current is None:
            stands = [line for line in self._lines if self._newest[line.key] is line]
            self._current = sorted(stands, key=lambda line: line.n)
        return self._current

    def times(self, key: str) -> int:
        """How often a line with that key was said or done."""
        return self._times[key]

    def catch_up(self) -> None:
        """Read the queued events, some 0.3 ms an item: a thread can do it beforehand."""
        self._read()
        self._look_through()

    def _read(self) -> None:
        if self._unread:
            self._current = None
        for data in self._unread:
            match data:
                case ItemAdded(item=item):
                    self._add(item)
                case SessionStarted(cwd=cwd):
                    self._cwd = cwd.rstrip("/") + "/" if cwd.strip("/") else ""
                case WindowReplaced(window=window):
                    self._retract(max((n for n, _ in window), default=0))
        self._unread.clear()

    def _add(self, item: Item) -> None:
        self.places += 1
        match item.kind:
            case "user":
                found = self._user(item)
            case "assistant":
                self._reply = found = list(of.of_agent(item, self._text(item.content), self.places))
                self._said = item.content if item.content.strip() else self._said
            case "tool_call":
                self._calls[item.response, item.call_id or ""] = item
                return
            case "tool_result":
                found = self._result(item)
            case _:
                return
        for line in found:
            self._keep(line)
        if item.kind in ("user", "assistant"):
            self._note_rare_words(word for line in found for word in line.words)

    def _user(self, item: Item) -> list[DigestLine]:
        done = act(None, item)
        if done is not None and done.kind == "agent":
            return list(of.of_result(done, item, self.places))
        found = list(of.of_user(item, self.places, self._said, self._changed))
        if any(line.kind == "user" for line in found):
            self.first_request = self.first_request or item.n
            for line in self._reply:
                line.kind = "report" if line.kind == "agent" else line.kind
            self._changed = ""
        return found

    def _result(self, item: Item) -> list[DigestLine]:
        call = self._calls.pop((item.response, item.call_id or ""), None)
        done = act(call, item)
        if done is None:
            return []
        text = self._text(clean_output(done.text))
        done = replace(done, text=text, title=self._text(done.title))
        found = list(of.of_result(done, item, self.places))
        self._changed = next((line.text for line in found if line.kind == "edit"), self._changed)
        if done.kind == "command" and item.state != "interrupted":
            self._failing.pop(done.title, None)
            if done.failed:
                self._failing[done.title] = item.n
        if done.prints:
            self._outputs.append((self._messages, item.n, text, self.places))
        return found

    def _text(self, text: str) -> str:
        """Paths in the workspace are relative."""
        return text.replace(self._cwd, "") if self._cwd else text

    def _note_rare_words(self, words: Iterable[str]) -> None:
        self._messages += 1
        for word in words:
            if information(word) >= of.RARE:
                self._rare_words.setdefault(word, self._messages)

    def _look_through(self) -> None:
        """Find the lines of results that share rare words with messages, up to the one after
        them."""
        waiting: list[tuple[int, int, str, int]] = []
        for output in self._outputs:
            before, n, text, place = output
            if before == self._messages:
                waiting.append(output)
                continue
            self._current = None
            for line in of.of_output(n, text, place, self._rare_words, before + 1, self._newest):
                self._keep(line)
        self._outputs = waiting

    def _keep(self, line: DigestLine) -> None:
        if line.text:
            self._lines.append(line)
            self._times[line.key] += 1
            self._newest[line.key] = line

    def _retract(self, last: int) -> None:
        """Forget the lines of items after #`last`, which a rewind took back."""
        self._outputs = [output for output in self._outputs if output[1] <= last]
        stays = [line for line in self._lines if line.n <= last]
        self._lines, self._times, self._newest = [], Counter(), {}
        for line in stays:
            self._keep(line)

"""What the user typed while Claude Code worked."""

from pinfold.adopt.claude_records import Record
from pinfold.adopt.lines import text_of


class Queue:
    """Prompts that wait for the agent.

    In old versions, one that a running turn took in has no message; newer ones repeat it as an
    attachment.
    """

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._taken: list[str] = []

    def step(self, record: Record) -> None:
        text = text_of(record, "content")
        match text_of(record, "operation"):
            case "enqueue" if text:
                self._waiting.append(text)
            case "dequeue":  # it becomes a prompt
                self._pop(text)
            case "remove":
                self._taken += self._pop(text)
            case "popAll":  # back into the user's editor
                self._waiting.clear()

    def repeated(self, text: str) -> None:
        """An attachment repeats this prompt."""
        if text in self._taken:
            self._taken.remove(text)

    def take(self) -> list[str]:
        """What a running turn took in and nothing repeated, without commands to the host."""
        taken, self._taken = self._taken, []
        return [text for text in taken if not text.startswith("/")]

    def _pop(self, text: str) -> list[str]:
        if text in self._waiting:
            self._waiting.remove(text)
            return [text]
        return [self._waiting.pop(0)] if self._waiting and not text else []

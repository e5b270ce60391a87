"""Filters which of a server's messages reach the SDK."""

from typing import Any

PASSED = frozenset(
    {
        "notifications/progress",
        "notifications/cancelled",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/subscriptions/acknowledged",
    }
)
"""Notifications that mean something here; logging is not offered."""
FLOODS = "it was stopped: it flooded pinfold with messages"
LISTS = ("content", "contents", "messages", "tools", "prompts", "resources", "resourceTemplates")
MOST_ENTRIES = 1_000
"""In one list of a result: the SDK checks each of them."""


class Allowance:
    """How many messages that answer nothing a server may send."""

    AT_ONCE, PER_SECOND = 1_000.0, 200.0

    def __init__(self) -> None:
        self._left = self.AT_ONCE
        self._at = 0.0

    def take(self, now: float) -> bool:
        """Whether it may send one more; `now` is in seconds."""
        earned = (now - self._at) * self.PER_SECOND
        self._left = min(self.AT_ONCE, self._left + earned) - 1
        self._at = now
        return self._left > 0


def sift(result: dict[str, Any]) -> str:
    """Take out of a result what the SDK should not act on; says what can't be used at all.

    Schemas of results go: to check against them is regular expressions of the server's, run on
    the event loop.
    """
    for name in LISTS:
        entries = result.get(name)
        if isinstance(entries, list) and len(entries) > MOST_ENTRIES:
            return f"more than {MOST_ENTRIES:,} {name}"
    tools = result.get("tools")
    if isinstance(tools, list):
        for tool in tools:
            if isinstance(tool, dict):
                tool.pop("outputSchema", None)
    return ""

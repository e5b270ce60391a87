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
LISTS = ("content", "contents", "messages", "tools", "prompts", "resources", "resourceTemplates")
MOST_ENTRIES = 1_000
"""In one list of a result: the SDK checks each of them."""


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

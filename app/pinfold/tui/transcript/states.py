"""The states of a card: their signs, and the style of `Looks` that each has."""

from typing import Literal

State = Literal["calling", "running", "asks", "ok", "failed", "refused", "interrupted"]
SIGNS: dict[State, str] = {
    "calling": "◌",
    "running": "◌",
    "asks": "?",
    "ok": "●",
    "failed": "✗",
    "refused": "⊘",
    "interrupted": "■",
}
LOOKS: dict[State, str] = {
    "calling": "running",
    "running": "running",
    "asks": "warning",
    "ok": "ok",
    "failed": "error",
    "refused": "warning",
    "interrupted": "warning",
}

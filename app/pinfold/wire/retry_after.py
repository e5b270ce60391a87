"""Reads how long a server asks to wait."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)(?:ec|in|inute|econd|our|ay)?[a-z]*", re.IGNORECASE
)
_SPAN = r"((?:\d+(?:\.\d+)?\s*(?:ms|[smhd])[a-z]*\s*)+)"
_MESSAGE = re.compile(rf"(?:try again|retry|wait)\s+(?:in|after|for)?\s*{_SPAN}", re.IGNORECASE)


def seconds_to_wait(headers: Mapping[str, str], message: str, now: datetime) -> float | None:
    """Seconds from the headers (names in lower case), else from the message, else none."""
    for wait in (
        _milliseconds(headers.get("retry-after-ms")),
        _seconds_or_date(headers.get("retry-after"), headers.get("date"), now),
        _in_message(message),
        _reset(headers, now),
    ):
        if wait is not None:
            return max(0.0, wait)
    return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _milliseconds(text: str | None) -> float | None:
    value = _number(text)
    return None if value is None else value / 1000


def _seconds_or_date(text: str | None, date: str | None, now: datetime) -> float | None:
    value = _number(text)
    if value is not None or text is None:
        return value
    at = _date(text)
    # Measured on the server's own clock where it tells it.
    return None if at is None else (at - (_date(date) or now)).total_seconds()


def _date(text: str | None) -> datetime | None:
    try:
        at = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _in_message(message: str) -> float | None:
    found = _MESSAGE.search(message)
    return _span(found[1]) if found else None


def _span(text: str) -> float | None:
    """`1.2s`, `6m0s`, `20ms` as seconds."""
    pieces = _PIECE.findall(text)
    return sum(float(number) * _UNITS[unit.lower()] for number, unit in pieces) if pieces else None


def _reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """`x-ratelimit-reset*`: a span, seconds, or a moment since 1970 in seconds or milliseconds."""
    prefix = "x-ratelimit-reset"
    waits: dict[str, float] = {}
    for name, text in headers.items():
        if not name.startswith(prefix):
            continue
        value = _number(text)
        if value is None:
            value = _span(text)
        elif value > 1e11:
            value = value / 1000 - now.timestamp()
        elif value > 1e9:
            value -= now.timestamp()
        if value is not None:
            waits[name.removeprefix(prefix)] = value
    used_up = [
        wait for kind, wait in waits.items() if headers.get(f"x-ratelimit-remaining{kind}") == "0"
    ]
    return max(used_up or waits.values(), default=None)

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.wire.retry_after import seconds_to_wait

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STAMP = NOW.timestamp()


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({}, "", None),
        ({"retry-after": "7"}, "", 7),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after": "9", "retry-after-ms": "1500"}, "", 1.5),
        ({"retry-after": "Fri, 02 Jan 2026 03:04:35 GMT"}, "", 30),
        (
            {
                "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT",
                "date": "Thu, 01 Jan 2026 00:00:00 GMT",
            },
            "",
            10,
        ),
        ({"retry-after": "Fri, 02 Jan 2026 03:04:00 GMT"}, "", 0),
        ({"retry-after": "soon"}, "", None),
        ({}, "Please try again in 1.2s. Visit", 1.2),
        ({}, "Please try again in 20ms.", 0.02),
        ({}, "Please try again in 1m30.5s", 90.5),
        ({}, "retry after 5 seconds", 5),
        ({}, "Try again in 2 minutes", 120),
        ({}, "try again later", None),
        ({"x-ratelimit-reset": "12"}, "", 12),
        ({"x-ratelimit-reset": str(int(STAMP) + 40)}, "", 40),
        ({"x-ratelimit-reset": str(int(STAMP) * 1000 + 2_500)}, "", 2.5),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "20ms"}, "", 360),
        (
            {
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-requests": "9",
                "x-ratelimit-reset-tokens": "20ms",
                "x-ratelimit-remaining-tokens": "0",
            },
            "",
            0.02,
        ),
    ],
)
def test_the_wait_a_server_asks_for(
    headers: dict[str, str], message: str, seconds: float | None
) -> None:
    assert seconds_to_wait(headers, message, NOW) == pytest.approx(seconds)


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "date", "x-ratelimit-reset"]), st.text()
    ),
    st.text(),
)
def test_nonsense_is_never_an_error(headers: dict[str, str], message: str) -> None:
    wait = seconds_to_wait(headers, message, NOW)
    assert wait is None or wait >= 0

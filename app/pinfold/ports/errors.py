"""What can go wrong with a request to a model.

ProviderError
├── RateLimited           wait `retry_after` seconds, try again
├── Overloaded            5xx or "overloaded": back off, try again
├── NetworkError          no connection, or it broke: back off, try again
├── TimedOut
│   ├── ConnectTimedOut
│   ├── FirstByteTimedOut
│   └── IdleTimedOut      the stream went silent
├── MalformedStream       the answer was not what the wire API promises
├── AuthenticationFailed
├── ContextOverflow       the request does not fit the model's window, or another limit
├── ContentRefused        the provider's filter said no
├── RequestRejected       any other 4xx: wrong model name, bad parameter
└── NoSuchModel           the model or provider that was asked for is not there
"""

from typing import ClassVar


class ProviderError(Exception):
    """A model request failed; `str()` is a plain sentence for the user."""

    retryable: ClassVar[bool] = False

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        """Seconds that the server asked to wait."""


class NoSuchModel(ProviderError):
    """The model or provider that the user named is not there, or is not set up correctly."""


class RateLimited(ProviderError):
    retryable = True


class Overloaded(ProviderError):
    retryable = True


class NetworkError(ProviderError):
    retryable = True


class TimedOut(ProviderError):
    retryable = True


class ConnectTimedOut(TimedOut):
    pass


class FirstByteTimedOut(TimedOut):
    pass


class IdleTimedOut(TimedOut):
    pass


class MalformedStream(ProviderError):
    retryable = True


class AuthenticationFailed(ProviderError):
    pass


class ContextOverflow(ProviderError):
    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        limit: int | None = None,
        tokens: int | None = None,
        of_window: bool = True,
    ) -> None:
        super().__init__(message, status=status)
        self.limit = limit
        """The model's context window, where the server tells it."""
        self.tokens = tokens
        """Tokens of the request, where the server tells them."""
        self.of_window = of_window
        """Whether it is the model's window that is too small, not a limit of bytes or of a
        minute's tokens."""


class ContentRefused(ProviderError):
    pass


class RequestRejected(ProviderError):
    pass

"""Why a window is not compacted."""

from collections.abc import Sequence

from pinfold.sanitize import one_line
from pinfold.window.refused import Refused


class Impossible(Refused):
    """What has to stay exceeds the model's window."""

    def __init__(self, breakdown: Sequence[tuple[str, int]], limit: int) -> None:
        """`breakdown` names what has to stay, with its tokens."""
        self.breakdown = tuple(breakdown)
        self.limit = limit
        told = ", ".join(f"{name} {tokens:,}" for name, tokens in breakdown if tokens)
        over = sum(tokens for _, tokens in breakdown) - limit
        super().__init__(
            f"This window can't be compacted: {told} are {over:,} tokens more than the "
            f"{limit:,} of the model. Unpin something, or switch to a model with a larger window."
        )


class TooSmall(Refused):
    """A model's window can't hold what every request needs, whatever is left out."""

    def __init__(self, model: str, window: int, fixed: int, request: int, reserve: int) -> None:
        """Tokens: `fixed` is what is before the window, `reserve` the room for the reply."""
        left = window - fixed - request - reserve
        leaves = f", which leaves {left:,} tokens" if left >= 0 else ""
        super().__init__(
            f"{one_line(model)} can't take this request: its context window is {window:,} tokens, "
            f"but instructions and tools take {fixed:,}, your latest request {request:,}, and "
            f"{reserve:,} are reserved for the reply{leaves}; give its server a larger window, or "
            "choose another model."
        )


class Unseen(Refused):
    """Results that the model has not been sent would be shortened."""


class Crowded(Refused):
    """Pins leave no room for the results of a turn."""


class NoGain(Refused):
    """Nothing, or too little, would go."""


class BadPlan(Refused):
    """A plan that must not be applied."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"The plan was refused: {'; '.join(reasons)}.")
